"""The published schedules: each figure of the documents, each blank, each source, and a row for each in the league."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from schemas.credit_shapes import (
    CreditBands,
    DurationTable,
    HourWaiver,
    LinearCredit,
    MultipleOfPrice,
    OnsetPlusHourly,
    UnstatedCredit,
)
from schemas.deal import Deal
from schemas.incidents import Incident
from schemas.money import Money
from schemas.periods import Month
from schemas.service_levels import ServiceLevel
from slakit.checks.sourcing import source_of
from slakit.load import load_deal
from slakit.paths import examples_dir
from slakit.statements.league import Schedule, league, schedules

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "examples" / "schedules"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
AS_KNOWN = date(2026, 11, 30)
"""No document is later."""

PROMISES = """
file                   | level                    | unit          | target | credit                                              | least
aethir-host            | unit                     | node          | 99     | ?                                                   | 0
atlas-gmi-clone        | instance                 | node          | 99     | ?                                                   | 0
atlas-gmi-clone        | instances-in-two-regions | cluster       | 99.9   | ?                                                   | 0
aws-bedrock            | api                      | control_plane | 99.9   | 99.9:10 99:25 95:100                                | 0
aws-ec2-instance       | instance                 | node          | 99.5   | 99.5:10 99:30 95:100                                | 0
aws-ec2-instance       | clock-hour               | node          | ?      | an hour with more than 6 minutes                    | 0
aws-ec2-region         | region                   | cluster       | 99.99  | 99.99:10 99:30 95:100                               | 0
azure-vm-multi-az      | two-zones                | cluster       | 99.99  | 99.99:10 99:25 95:100                               | 0
azure-vm-single-hdd    | unit                     | node          | 95     | 95:10 92:25 90:100                                  | 0
azure-vm-single-premium | unit                    | node          | 99.9   | 99.9:10 99:25 95:100                                | 0
cloudpe-gpu            | service                  | node          | 99.9   | 99.9:5 99:10 95:20                                  | 0
commonpaper-sla-2.0    | service                  | site          | ?      | ?                                                   | 0
coresite-sec           | climate                  | hall          | ?      | ?                                                   | 0
coreweave-tos-multi    | instances-in-two-regions | cluster       | 99.9   | 99.9:10 99:25 95:50                                 | 1
coreweave-tos-single   | unit                     | node          | 99     | 99:10 95:25 90:50                                   | 1
dc74-power             | two-feeds                | rack          | 100    | ?                                                   | 0
dc74-power             | single-feed              | rack          | 99.99  | ?                                                   | 0
digitalocean-cpu-2025  | unit                     | node          | 99.99  | 99.99:100                                           | 0
dynascale-colo         | power                    | hall          | ?      | ?                                                   | 0
element-critical-power | power                    | hall          | 100    | 3 and 3 for each ? 60 minutes after 0, per ?        | 0
equinix-sec            | climate                  | hall          | ?      | ?                                                   | 0
fpt-metal              | unit                     | node          | 99     | ?                                                   | 2
gamegrid-hourly        | service                  | node          | 99.99  | 0 and 1 for each ? 60 minutes after 15, per ?       | 15
google-gce-single      | unit                     | node          | 99.9   | 99.9:10 95:25 90:100                                | 1
ibm-cloud-ha           | service                  | cluster       | 99.99  | 99.99:10 99.9:25 95:100                             | 0
ibm-cloud-nonha        | service                  | cluster       | 99.9   | 99.9:10 99:25 95:100                                | 0
ionstream              | unit                     | node          | 99.9   | 1 of the shortfall                                  | 0
nebius-mk8s            | control-plane            | control_plane | 99.9   | 99.9:10 95:25                                       | 5
nebius-vm              | unit                     | node          | 99.5   | ?                                                   | 0
nvidia-dgx-cloud       | service                  | site          | 99     | 99:10 95:25                                         | 0
nvidia-ncp-offtake     | control-plane            | control_plane | 99.95  | ?                                                   | 0
nvidia-ncp-offtake     | fast-storage             | storage       | 99.99  | ?                                                   | 0
nvidia-ncp-offtake     | home-storage             | storage       | 99     | ?                                                   | 0
nvidia-ncp-offtake     | file-system              | storage       | 99.5   | ?                                                   | 0
oci-generic            | service                  | cluster       | 99.9   | 99.9:10 99:25 95:100                                | 0
scaleway-gpu           | instance                 | node          | 99.5   | ?                                                   | 0
scaleway-gpu           | bare-metal               | node          | 99.99  | ?                                                   | 0
tensordock             | top-host                 | node          | ?      | 10 times the price, least 5                         | 0
tensordock             | standard-host            | node          | ?      | 5 times the price, least 5                          | 0
voltage-park-vm        | unit                     | node          | ?      | ?                                                   | 0
vultr                  | unit                     | node          | 100    | 0:12 9:? 10:24 60:48 120:120 240:240 420:672 at most 672, per ? | 0
yandex-compute         | vm                       | node          | 99.95  | 99.95:10 99:15 95:30                                | 0
yandex-compute         | gpu-cluster              | fabric        | 99.5   | ?                                                   | 5
yandex-compute         | dedicated-host           | node          | 99.9   | ?                                                   | 0
"""  # noqa: E501
"""Per cent, minutes and hours as the documents print them; `?` where they say nothing."""

RULES = """
file                    | cap            | claim             | late    | sole | base | excluded                                | form
aethir-host             | -              | ?                 | ?       | ?    | ?    | ?                                       | ?
atlas-gmi-clone         | -              | ?                 | ?       | yes  | ?    | ?                                       | bill
aws-bedrock             | -              | ?                 | ?       | yes  | all  | ?                                       | bill
aws-ec2-instance        | -              | 0 days next_period_end | forfeit | yes | unit | force_majeure customer_act suspension | bill
aws-ec2-region          | -              | 0 days next_period_end | forfeit | yes | all | force_majeure customer_act suspension  | bill
azure-vm-multi-az       | -              | 2 months period_end | ?     | yes  | all  | ?                                       | bill
azure-vm-single-hdd     | -              | 2 months period_end | ?     | yes  | unit | ?                                       | bill
azure-vm-single-premium | -              | 2 months period_end | ?     | yes  | unit | ?                                       | bill
cloudpe-gpu             | -              | 60 days ?         | ?       | ?    | unit | ?                                       | bill
commonpaper-sla-2.0     | 8 term         | 7 days period_end | forfeit | yes  | ?    | scheduled force_majeure customer_act    | bill
coresite-sec            | -              | ?                 | ?       | ?    | ?    | ?                                       | bill
coreweave-tos-multi     | 50 month       | 10 days ?         | forfeit | yes  | all  | scheduled force_majeure customer_act    | bill in 60 days
coreweave-tos-single    | 50 month       | 10 days ?         | forfeit | yes  | unit | scheduled force_majeure customer_act    | bill in 60 days
dc74-power              | -              | 30 days ?         | ?       | ?    | ?    | ?                                       | bill
digitalocean-cpu-2025   | -              | 3 months ?        | ?       | ?    | unit | scheduled customer_act                  | bill
dynascale-colo          | -              | ?                 | ?       | ?    | ?    | ?                                       | bill
element-critical-power  | 100 month      | ?                 | ?       | ?    | unit | ?                                       | bill
equinix-sec             | -              | ?                 | ?       | ?    | ?    | ?                                       | bill
fpt-metal               | -              | 60 days ?         | ?       | ?    | ?    | scheduled force_majeure and more        | bill
gamegrid-hourly         | 100 month      | 7 days ?          | ?       | ?    | ?    | ?                                       | bill
google-gce-single       | -              | 60 days ?         | forfeit | yes  | unit | ?                                       | bill
ibm-cloud-ha            | -              | ?                 | ?       | yes  | all  | ?                                       | bill
ibm-cloud-nonha         | -              | ?                 | ?       | yes  | all  | ?                                       | bill
ionstream               | -              | ?                 | ?       | ?    | unit | scheduled                               | bill
nebius-mk8s             | -              | 14 days period_end | ?      | ?    | all  | ?                                       | bill
nebius-vm               | -              | 14 days period_end | forfeit | ?   | ?    | ?                                       | bill
nvidia-dgx-cloud        | 25 month       | 60 days incident_start | ?  | ?    | ?    | scheduled force_majeure customer_act    | bill
nvidia-ncp-offtake      | -              | ?                 | ?       | ?    | ?    | ?                                       | ?
oci-generic             | -              | 30 days ?         | ?       | yes  | all  | ?                                       | bill
scaleway-gpu            | -              | ?                 | ?       | ?    | ?    | ?                                       | bill
tensordock              | 100 month before | none            | -       | ?    | unit | ?                                       | bill
voltage-park-vm         | 100 month      | 30 days ?         | forfeit | yes  | unit | ?                                       | ? in 60 days
vultr                   | -              | 3 days ?          | ?       | ?    | unit | scheduled emergency force_majeure       | bill for 12 months
yandex-compute          | -              | ?                 | ?       | ?    | unit | ?                                       | bill
"""  # noqa: E501
"""Rules that all levels of a file share. A claim: how long, from what; a cap: per cent, of what."""

REMARKS = {
    "aethir-host": ["30 minutes offline in a day"],
    "atlas-gmi-clone": ["demarcation point", "empties the promise"],
    "aws-bedrock": ["share of calls that fail", "smallest credit is one dollar"],
    "aws-ec2-instance": ["6 minutes of a clock hour", "second billing cycle", "earlier of two readings", "upfront"],
    "aws-ec2-region": ["two or more of its zones", "second billing cycle", "earlier of two readings", "upfront"],
    "azure-vm-multi-az": ["two or more zones", "partly on memory"],
    "azure-vm-single-hdd": ["partly on memory"],
    "azure-vm-single-premium": ["partly on memory"],
    "cloudpe-gpu": ["one-time fees left out"],
    "commonpaper-sla-2.0": ["Two misses in three months", "7 days", "prepaid fees", "an automatic reply"],
    "coresite-sec": ["89.6 degrees", "materially affected"],
    "coreweave-tos-multi": ["both edges of its rows", "no cap of hours", "spread evenly over the term", "60 days"],
    "coreweave-tos-single": ["both edges of its rows", "at 99% none", "no cap of hours", "never under both"],
    "dc74-power": ["two feeds", "99.99%"],
    "digitalocean-cpu-2025": ["more than 5 minutes", "GPU Droplets"],
    "dynascale-colo": ["one feed is no outage"],
    "element-critical-power": ["receptacle", "both redundant circuits"],
    "equinix-sec": ["below 30%", "above 60%", "within 30 days", "redacted"],
    "fpt-metal": ["divides by the whole month", "45 days", "99.5%", "99.95%", "NVMe"],
    "gamegrid-hourly": ["15 minutes"],
    "google-gce-single": ["A4X", "99.95%", "from memory", "99.5%"],
    "ibm-cloud-ha": ["October 2020", "90 days"],
    "ibm-cloud-nonha": ["October 2020", "90 days"],
    "ionstream": ["4 hours of identification", "one lost power supply is not enough"],
    "nebius-mk8s": ["at least 5 minutes"],
    "nebius-vm": ["may be interrupted", "customer's notice", "service is back"],
    "nvidia-dgx-cloud": ["enterprise plan", "beta"],
    "nvidia-ncp-offtake": ["30 rolling days", "99.999%", "12 weeks", "6 weeks", "2 weeks", "each petabyte"],
    "oci-generic": ["Vault", "older note", "bare metal"],
    "scaleway-gpu": ["power and connectivity"],
    "tensordock": ["not a contract", "40 hours of price", "four monitors", "does not state"],
    "voltage-park-vm": ["60 days"],
    "vultr": ["9 minutes up to 10", "up to 10 minutes", "28 days", "alone decides", "after a year"],
    "yandex-compute": ["10% for each time", "within 8 hours", "all machines on record"],
}  # fmt: skip
"""What no term says and `about` must."""


@pytest.fixture(scope="module")
def all_schedules() -> dict[str, Schedule]:
    return {one.id: one for one in schedules(FOLDER)}


def table(text: str) -> list[tuple[str, ...]]:
    """Return the rows of a table without its head."""
    return [tuple(" ".join(cell.split()) for cell in line.split("|")) for line in text.strip().splitlines()[1:]]


def per_cent(share: Decimal) -> str:
    return f"{(share * 100).normalize():f}"


def credit_of(deal: Deal, name: str, level: ServiceLevel) -> str:
    """Return a credit the way the table writes it."""

    def said(term: str) -> str:
        blank = deal.blank(f"service_levels.{name}.credit.{term}")
        return "?" if blank else str(getattr(level.credit, term))

    match level.credit:
        case UnstatedCredit():
            return "?"
        case CreditBands(bands=bands):
            return " ".join(f"{per_cent(band.below)}:{per_cent(band.credit_fraction)}" for band in bands)
        case LinearCredit(slope=slope, cap=cap):
            assert cap == 1
            return f"{slope} of the shortfall"
        case HourWaiver(minutes_in_clock_hour=minutes):
            return f"an hour with more than {minutes} minutes"
        case MultipleOfPrice(multiple=multiple, least=least):
            return f"{multiple} times the price, least {least}"
        case DurationTable(rows=rows, cap_hours=cap):
            hours = " ".join(f"{r.from_minutes}:{'?' if r.credit_hours is None else r.credit_hours}" for r in rows)
            return f"{hours} at most {cap}, per {said('per')}"
        case OnsetPlusHourly() as one:
            shares = f"{per_cent(one.onset)} and {per_cent(one.hourly)}"
            each = f"for each {said('counted')} {one.hour_minutes} minutes after {one.free_minutes}"
            return f"{shares} {each}, per {said('per')}"
    raise AssertionError(level.credit.shape)


def promises_of(name: str, deal: Deal) -> list[tuple[str, ...]]:
    found = []
    for level_id, level in deal.service_levels.items():
        own = level.measurement.minimum_outage_minutes if level.measurement else None
        least = deal.measurement.minimum_outage_minutes if own is None else own
        target = "?" if level.target is None else per_cent(level.target)
        found.append((name, level_id, level.level, target, credit_of(deal, level_id, level), str(least)))
    return found


def rules_of(name: str, deal: Deal) -> tuple[str, ...]:
    credits, process = deal.credits, deal.credits.process

    def or_blank(path: str, words: str) -> str:
        return "?" if deal.blank(path) else words

    caps = [(c, per_cent(share)) for c in ("month", "year", "term") if (share := getattr(credits.caps, c)) is not None]
    cap = " ".join(f"{share} {of}" for of, share in caps) or "-"
    if credits.caps.month_of == "previous_period":
        cap += " before"
    length = f"{process.window_months} months" if process.window_months is not None else f"{process.window_days} days"
    claim = or_blank(
        "credits.process.window_days", f"{length} {or_blank('credits.process.window_from', process.window_from)}"
    )
    heads = " ".join(deal.exclusions.heads) + (" and more" if deal.exclusions.open_ended else "")
    form = or_blank("credits.form.form", {"future_credit": "bill"}.get(credits.form.form, credits.form.form))
    if "pay_days" in credits.form.model_fields_set:
        form += f" in {credits.form.pay_days} days"
    if credits.form.expiry_months is not None:
        form += f" for {credits.form.expiry_months} months"
    automatic = process.mode == "automatic"
    return (
        name,
        cap,
        "none" if automatic else claim,
        "-" if automatic else or_blank("credits.process.late", process.late),
        or_blank("cancellation.sole_remedy", "yes" if deal.cancellation.sole_remedy else "no"),
        or_blank("credits.base", {"unit_fee_accrued": "unit", "service_fee_accrued": "all"}[credits.base]),
        or_blank("exclusions.heads", heads),
        form,
    )  # fmt: skip


# --- figures --------------------------------------------------------------------------------------------------------


def test_all_files_stand_in_the_tables():
    assert len(NAMES) == 34
    assert sorted({row[0] for row in table(PROMISES)}) == NAMES
    assert [row[0] for row in table(RULES)] == NAMES
    assert sorted(REMARKS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_promise_has_the_figures_of_its_document(name: str, all_schedules: dict[str, Schedule]):
    assert promises_of(name, all_schedules[name].deal) == [row for row in table(PROMISES) if row[0] == name]


@pytest.mark.parametrize("name", NAMES)
def test_the_rules_of_each_are_those_of_its_document(name: str, all_schedules: dict[str, Schedule]):
    assert rules_of(name, all_schedules[name].deal) == next(row for row in table(RULES) if row[0] == name)


@pytest.mark.parametrize("name", NAMES)
def test_what_no_term_says_stands_in_words(name: str, all_schedules: dict[str, Schedule]):
    about = " ".join((all_schedules[name].deal.about or "").split())
    assert [words for words in REMARKS[name] if words not in about] == []
    assert about.endswith("These are figures of a public document as known on 30 November 2026, not the contract.")
    assert len(about) <= 1300


def test_figures_that_few_documents_have(all_schedules: dict[str, Schedule]):
    deals = {name: one.deal for name, one in all_schedules.items()}
    aws, coreweave = {"aws-ec2-instance", "aws-ec2-region"}, {"coreweave-tos-multi", "coreweave-tos-single"}

    def those(test: Callable[[Deal], bool]) -> set[str]:
        return {name for name, deal in deals.items() if test(deal)}

    assert those(lambda deal: not deal.credits.includes_prepaid) == aws
    assert those(lambda deal: deal.credits.minimum_payable == 1) == {*aws, "aws-bedrock"}
    assert those(lambda deal: deal.credits.minimum_payable not in (0, 1)) == set()
    assert those(lambda deal: deal.credits.between_levels == "choose_one") == coreweave
    assert those(lambda deal: deal.credits.between_levels == "cumulative") == {"aws-ec2-instance"}
    assert those(lambda deal: deal.measurement.conflict == "provider") == coreweave
    assert those(lambda deal: deal.measurement.merge_gap_minutes != 0) == set()
    assert those(lambda deal: deal.measurement.ends_at != "first_good") == set()
    assert those(lambda deal: deal.measurement.monitor == "provider") == {
        "commonpaper-sla-2.0", "element-critical-power",
    }  # fmt: skip
    assert those(lambda deal: deal.measurement.starts_at == "customer_notice") == {"nebius-vm"}
    assert those(lambda deal: any(level.excluded_leave == "both" for level in deal.service_levels.values())) == {
        "commonpaper-sla-2.0"
    }
    assert those(lambda deal: deal.credits.form.form == "future_credit" and deal.credits.form.cash_at_end) == set()
    assert those(lambda deal: deal.cancellation.chronic_failure is not None) == set()


def test_what_does_not_count_has_the_notice_of_its_document(all_schedules: dict[str, Schedule]):
    said = {
        name: one.deal.exclusions.scheduled.notice_days
        for name, one in all_schedules.items()
        if "scheduled" in one.deal.exclusions.model_fields_set
    }
    assert said == {"coreweave-tos-multi": 0, "coreweave-tos-single": 0, "vultr": 1}
    fpt = all_schedules["fpt-metal"].deal.exclusions
    assert (fpt.force_majeure.events, fpt.force_majeure.never) == (("cyber_attack", "congestion"), ())
    assert all(one.deal.exclusions.scheduled.cap_unit_month_hours is None for one in all_schedules.values())


def test_one_document_promises_replacement(all_schedules: dict[str, Schedule]):
    assert {name for name, one in all_schedules.items() if one.deal.operations.replacement} == {"ionstream"}
    replacement = all_schedules["ionstream"].deal.operations.replacement
    assert replacement is not None
    assert (replacement.clock_from, dict(replacement.target_hours)) == ("identification", {"node": 4})
    assert (replacement.late_credit, replacement.cap) == (0, 0)


def test_a_unit_is_down_by_the_tests_of_its_document(all_schedules: dict[str, Schedule]):
    found: dict[tuple[str, ...], set[str]] = {}
    whole = set()
    for name, one in all_schedules.items():
        for level_id, level in one.deal.service_levels.items():
            if not one.deal.blank(f"service_levels.{level_id}.down_tests"):
                found.setdefault(level.down_tests, set()).add(f"{name}.{level_id}")
            if level.down_when == "all_down":
                whole.add(f"{name}.{level_id}")
    assert found == {
        ("unreachable", "volume_unreachable"): {
            "atlas-gmi-clone.instance", "atlas-gmi-clone.instances-in-two-regions", "digitalocean-cpu-2025.unit",
            "coreweave-tos-multi.instances-in-two-regions", "coreweave-tos-single.unit", "google-gce-single.unit",
            "nebius-vm.unit", "yandex-compute.vm",
        },
        ("unreachable",): {
            "aws-ec2-instance.instance", "aws-ec2-instance.clock-hour", "aws-ec2-region.region",
            "azure-vm-multi-az.two-zones", "azure-vm-single-hdd.unit", "azure-vm-single-premium.unit",
            "ibm-cloud-ha.service", "ibm-cloud-nonha.service", "nebius-mk8s.control-plane",
        },
        ("unreachable", "listed_fault"): {"fpt-metal.unit"},
        ("unreachable", "power_lost"): {"scaleway-gpu.bare-metal"},
        ("power_lost", "cooling_lost", "listed_fault"): {"ionstream.unit"},
        ("power_lost",): {
            "dc74-power.two-feeds", "dc74-power.single-feed", "dynascale-colo.power", "element-critical-power.power",
        },
        ("cooling_lost",): {"coresite-sec.climate"},
        ("fabric_down",): {"yandex-compute.gpu-cluster"},
    }  # fmt: skip
    assert whole == {
        "atlas-gmi-clone.instances-in-two-regions", "aws-ec2-region.region", "azure-vm-multi-az.two-zones",
        "coreweave-tos-multi.instances-in-two-regions", "ibm-cloud-ha.service", "ibm-cloud-nonha.service",
        "oci-generic.service",
    }  # fmt: skip


def test_the_figures_are_those_of_the_right_answers(all_schedules: dict[str, Schedule]):
    answers = ROOT.parent / "shared" / "cases" / "sla_schedules.json"
    if not answers.is_file():
        pytest.skip("the papers from which these figures were copied do not lie beside the checkout")
    facts = json.loads(answers.read_text(encoding="utf-8"), parse_float=Decimal)["schedules"]
    assert sorted(fact["id"] for fact in facts) == NAMES
    for fact in facts:
        deal = all_schedules[fact["id"]].deal
        first = next(iter(deal.service_levels.values()))
        assert (None if first.target is None else first.target * 100) == fact["target_pct"]
        least = [one.measurement.minimum_outage_minutes for one in deal.service_levels.values() if one.measurement]
        assert max(deal.measurement.minimum_outage_minutes, *least, 0) == (fact["min_outage_minutes"] or 0)
        if isinstance(first.credit, CreditBands):
            rows = [(row["upper"], row["credit_pct"]) for row in fact["tiers"]]
            assert [(band.below * 100, band.credit_fraction * 100) for band in first.credit.bands] == rows
        elif not fact["tiers"]:
            assert isinstance(first.credit, UnstatedCredit | LinearCredit)
        assert bool(deal.blank("credits.base")) == (fact["base"] is None or fact["base"].startswith("order form"))
        assert bool(deal.blank("cancellation.sole_remedy")) == (fact["sole_remedy"] is None)
        assert (deal.credits.process.mode == "automatic") == (fact["auto_credit"] is True)
        cap = deal.credits.caps.month or deal.credits.caps.term
        if fact["id"] != "vultr":  # its cap is typed as 672 hours
            assert (None if cap is None else cap * 100) == (fact["cap"]["pct"] if fact["cap"] else None)


# --- what is not said -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_nothing_blank_is_filled_by_a_default(name: str, all_schedules: dict[str, Schedule]):
    deal = all_schedules[name].deal
    typed = deal.model_dump(exclude_unset=True)
    paths = [
        "measurement.zone", "measurement.monitor", "exclusions.heads", "credits.base", "credits.form.form",
        "credits.process.mode", "cancellation.sole_remedy",
    ]  # fmt: skip
    if deal.credits.process.mode == "claimed":
        paths += ["credits.process.late", "credits.process.window_from"]
    for level in deal.service_levels:
        paths += [f"service_levels.{level}.target", f"service_levels.{level}.down_tests"]
    if not deal.blank("exclusions.heads"):
        paths += [
            f"exclusions.{head}"
            for head in ("scheduled", "emergency", "force_majeure")
            if head in deal.exclusions.heads
        ]
    assert [p for p in paths if not _is_typed(typed, p) and not deal.blank(p) and not _blank_within(deal, p)] == []


def _is_typed(typed: object, path: str) -> bool:
    for step in path.split("."):
        if not isinstance(typed, dict) or step not in typed:
            return False
        typed = typed[step]
    return True


def _blank_within(deal: Deal, path: str) -> bool:
    """Return whether a term inside `path` is said to be unknown."""
    return any(unknown.startswith(f"{path}.") for unknown in deal.unknown)


@pytest.mark.parametrize("name", NAMES)
def test_every_blank_has_a_reason_of_one_short_sentence(name: str, all_schedules: dict[str, Schedule]):
    deal = all_schedules[name].deal
    reasons = [*deal.unknown.values()]
    reasons += [
        level.credit.reason for level in deal.service_levels.values() if isinstance(level.credit, UnstatedCredit)
    ]
    for reason in reasons:
        assert 10 <= len(reason) <= 130
        assert reason[0].islower() or reason.startswith(("30", "CPU"))
        assert not reason.endswith(".")


def test_the_unknown_clock_of_a_customer_who_can_prove_it(all_schedules: dict[str, Schedule]):
    for name in ("ibm-cloud-ha", "ibm-cloud-nonha"):
        assert "prove" in all_schedules[name].deal.unknown["measurement.starts_at"]


# --- sources --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_section_says_where_it_is_from(name: str, all_schedules: dict[str, Schedule]):
    deal = all_schedules[name].deal
    sections = {"measurement", "service_levels", "credits", "exclusions", "cancellation", "operations"}
    for section in sections & deal.model_fields_set:
        source = source_of(deal, f"{section}.x")
        assert source is not None
        assert source.kind == "published"
        assert source.source
        assert date(2019, 1, 1) < source.as_of <= AS_KNOWN
    assert {path.removesuffix(".*") for path in deal.provenance} == sections & deal.model_fields_set


def test_what_rests_on_memory_or_on_copies_says_so(all_schedules: dict[str, Schedule]):
    why = {name: one.deal.provenance["service_levels.*"].rationale or "" for name, one in all_schedules.items()}
    assert {name for name, words in why.items() if "From memory" in words} == {
        "azure-vm-multi-az", "azure-vm-single-hdd", "azure-vm-single-premium", "google-gce-single",
    }  # fmt: skip
    assert {name for name, words in why.items() if words.startswith("From copies")} == {
        "aws-ec2-instance", "aws-ec2-region", "coresite-sec", "element-critical-power", "equinix-sec", "vultr",
    }  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_short_and_in_plain_words(name: str):
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    assert len(text) < 8000
    assert max(map(len, text.splitlines())) <= 120
    assert text.isascii()
    assert "Seen as" not in text
    assert yaml.safe_load(text)["schema_version"] == 1


# --- in use ---------------------------------------------------------------------------------------------------------


def test_the_league_has_a_row_for_every_promise(all_schedules: dict[str, Schedule]):
    outage = Incident(
        id="x", level="site", unit_id="hall", started_at=datetime(2025, 11, 28, 2, 40, tzinfo=UTC),
        ended_at=datetime(2025, 11, 28, 13, 30, tzinfo=UTC),
    )  # fmt: skip
    rows = league(list(all_schedules.values()), [outage], Money(Decimal(1_000_000), "USD"), [Month(2025, 11)])
    assert sorted((row["schedule"], row["service_level"]) for row in rows) == sorted(r[:2] for r in table(PROMISES))
    by_level = {(row["schedule"], row["service_level"]): row for row in rows}
    for name, level, _, target, credit, _ in table(PROMISES):
        row = by_level[name, level]
        if name == "nebius-vm":  # its clock starts with the customer's notice, which a log of outages does not hold
            assert (row["counted_minutes"], row["availability"]) == (None, None)
            assert "notice" in row["reason"]
            continue
        assert row["counted_minutes"] == 650
        assert row["reason"] != "nothing of the unit that it measures was down"
        if credit == "?" or name in ("element-critical-power", "gamegrid-hourly"):
            assert row["credit"] is None
            assert row["reason"]
        else:
            assert row["credit"] is not None
            paid = Decimal(row["credit"]["amount"])
            assert (paid > 0) == (target == "?" or Decimal(target) > Decimal("98.49537"))


def test_the_readme_lists_every_file_with_its_promise():
    rows = [
        line.split("|")
        for line in (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    assert [row[1].strip().strip("`") for row in rows] == NAMES
    for row in rows:
        name, promise, shape = (cell.strip().strip("`") for cell in row[1:4])
        ours = [one for one in table(PROMISES) if one[0] == name]
        assert all(target == "?" or f"{target}%" in promise for _, _, _, target, _, _ in ours)
        assert ("not known" in shape) == any(credit == "?" for *_, credit, _ in ours)


def test_the_files_travel_with_slakit():
    assert examples_dir() / "schedules" == FOLDER
    hook = (ROOT / "hatch_build.py").read_text(encoding="utf-8")
    assert '"examples"' in hook  # the folder whole; test_repository.py holds the wheel against it, file by file
    assert sorted(one.id for one in schedules()) == NAMES
    assert all(load_deal(path).deal.title for path in FOLDER.glob("*.yaml"))
