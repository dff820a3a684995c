"""Redundancy of sites: exact long-run figures of their graphs, and outages in the simulation."""

from risk.availability.bad_months import enumerate_bad_months
from risk.availability.outage_law import from_deal
from risk.availability.report import site_report
from risk.availability.site import SiteResult, analyse

__all__ = ["SiteResult", "analyse", "enumerate_bad_months", "from_deal", "site_report"]
