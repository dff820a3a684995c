"""Lines of other heads than availability: late replacement and late response."""

from __future__ import annotations

from collections.abc import Mapping

from risk.contract_rules.level_lines import Fees
from risk.contract_rules.lines import Line
from risk.contract_rules.register import Register
from schemas.periods import Month


def head_lines(register: Register, month: Month, fees: Mapping[str, Fees]) -> tuple[Line, ...]:
    """Return the lines of one period for replacement and response, up to the rounded credit of each."""
    return ()
