"""One figure of the campaign: what was counted, and the most it may be."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """value: at most `target` is met. details: what the number is made of."""

    what: str
    value: float
    target: float
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def is_met(self) -> bool:
        """Whether the target is met."""
        return self.value <= self.target

    def to_data(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "what": self.what,
            "value": self.value,
            "wanted": f"at most {self.target:g}",
            "is_met": self.is_met,
            **self.details,
        }
