"""The base of all terms: frozen, unknown keys refused, never copied past validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class Terms(BaseModel):
    """Something a person typed or a contract prints: immutable and checked."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_default=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        hide_input_in_errors=False,
    )

    def revise(self, changes: Mapping[str, Any]) -> Self:
        """Return a copy with `changes` to top-level fields, validated again as a whole."""
        return type(self).model_validate({**self.model_dump(mode="python", exclude_unset=True), **changes})
