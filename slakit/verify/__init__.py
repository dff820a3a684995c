"""Checks a document that we made: it is made again from what it carries, and every difference is named."""

from slakit.verify.found import Difference, Verified
from slakit.verify.verification import verify

__all__ = ["Difference", "Verified", "verify"]
