"""What the words of the contract do with the facts.

One module holds one rule: `PARAGRAPH`, the id of the paragraph that orders it (further paragraphs of the same rule
stand beside it in names that end in `_PARAGRAPH`), `exact` for one history, with the steps that lead to the result,
and, where the simulation needs it, `arrays` for many histories. The two agree to the minute and to the cent.

A statement follows this order, which may not be changed:

 1. units in service                            `records`, `measurement_period`, `measured_from`
 2. readings of the monitor of record           `readings`, `fault_codes`, `affected`
 3. intervals of downtime                       `outage_start`, `outage_end`, `degraded_performance`
 4. flaps joined, minimum outage tested         `flaps`, `minimum_outage`
 5. division at the end of a period             `straddle`
 6. exclusions                                  `scheduled_maintenance`, `emergency_maintenance`, `force_majeure`,
                                                `judged_window`, `root_cause_reports`, `allowance`,
                                                `excluded_downtime`
 7. counted minutes                             `minutes`
 8. children rolled up into racks and clusters  `roll_up`
 9. availability                                `availability`
10. shape of the credit                         `credit_shape`, `bands`, `linear`, `steps`, `duration_table`,
                                                `multiple_of_price`, `per_breach`, `hour_waiver`, `onset_plus_hourly`,
                                                `term_extension`, `unstated`, `hourly_price`
11. base of the credit                          `credit_base`, fees of it `service_fees`
12. cap of the unit                             `caps`
13. rounding of each line, least amount         `rounding`, `caps`
14. one level or all, one head or all           `stacking`
15. claims                                      `claims`
16. cap of the month                            `caps`
17. caps of the year and the term               `caps`
18. rights to leave                             `chronic_failure`, `single_outage`, `cumulative_hours`, `same_cause`,
                                                `cap_reached`, `replacement_missed`, `exercise_window`,
                                                `prolonged_force_majeure`
19. form of payment                             `credit_form`

Steps 1 to 7 are done for each unit (`unit_history`); racks and clusters come after their nodes, and what their nodes
bring about (8) joins their own outages before these are tested (4), divided (5) and counted (7). `level_lines` makes
the lines up to step 13, `settlement` settles them (`choices` steps 13 to 15, `account` the caps and what is carried
forward), `rights` looks for rights, `statement` chains all. `counting_rules` holds the measurement terms of one service
level, `credit_facts` what a shape reads, `counted_outages` the downtime of a month by outage, `deadlines` counts days,
`intervals` is the algebra of spans of time, `rolling_window` finds when time within a window passes a limit.

`head_lines` makes the lines of late replacement (`replacement_times`) and late response (`support_response`), which
join the others before step 14. `exclusion_ledger` tells how each minute inside a window was judged.

Delivery, price and term stand apart: `adjusted_date`, `delay_damages`, `long_stop`, `monthly_price`, `take_or_pay`,
`prepayment`, `termination_refund`, `effective_term`; `allocation` follows credits over the invoices, `objection` dates
statements. So does the lender's side, which no clause orders yet: `headroom`, `deductions`,
`default_sum`, `backstop_gap`, `contagion`, `earliest_end`, `unit_days`, `patch_age`.
"""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module

_ID = re.compile(r"[a-z]+(-[a-z0-9]+)*\.[a-z]+(-[a-z0-9]+)*")


def paragraphs() -> frozenset[str]:
    """Return the ids of all paragraphs that the rules can name in a step, found by looking through this package."""
    found: set[str] = set()
    for module in pkgutil.iter_modules(__path__):
        for name, value in vars(import_module(f"{__name__}.{module.name}")).items():
            if name == "PARAGRAPH" or name.endswith("_PARAGRAPH"):
                if not isinstance(value, str) or not _ID.fullmatch(value):
                    raise ValueError(f"{module.name}.{name} is no paragraph id: {value!r}")
                found.add(value)
    return frozenset(found)
