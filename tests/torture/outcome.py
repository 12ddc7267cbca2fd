"""What one kind of torture did, and what did not hold."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Outcome:
    """Figures of one kind of torture; whatever did not hold stands in `failures`."""

    name: str
    figures: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    remark: str = ""

    def add(self, name: str, number: int = 1) -> None:
        """Count."""
        self.figures[name] = self.figures.get(name, 0) + number

    def expect(self, holds: object, otherwise: str) -> None:
        """Note what does not hold, and go on: one fault should not hide the next."""
        if not holds:
            self.failures.append(otherwise)

    def report(self) -> str:
        """Write the figures on one line, faults below."""
        figures = ", ".join(f"{number:,} {name}" for name, number in self.figures.items())
        remark = f" ({self.remark})" if self.remark else ""
        lines = [f"{'✗' if self.failures else '✓'} {self.name:<22} {figures}{remark}"]
        return "\n".join([*lines, *(f"  ✗ {what}" for what in self.failures[:20])])
