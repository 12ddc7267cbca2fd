"""The Audits screen: what twelve evaluators report of a skill in each iteration, and what became of drafts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from strategies.audit.audit_record import audit_records
from tui.screens.addresses import ScreenAddress
from tui.screens.list_screen import ListScreen
from tui.text.numbers import count
from tui.views.audits import AuditLine, audit_detail_rows, audit_header, audit_lines, audit_row
from tui.widgets.keys import AUDITS

if TYPE_CHECKING:
    from textual.binding import BindingType

    from tui.screens.host_protocol import Host


class AuditsScreen(ListScreen[AuditLine]):
    """Lists the evaluators of the last audit of one skill, or of each, with a column for each iteration."""

    BINDINGS: ClassVar[list[BindingType]] = [*AUDITS]
    FIND_HINT = "show evaluators that hold …"
    PANES = ("#evaluators", "#reports")

    def __init__(self, place: ScreenAddress, host: Host) -> None:
        super().__init__(place, host)
        self._lines: list[AuditLine] = []

    async def load(self) -> None:
        """Read the audits; the cursor stays on the evaluator it is on."""
        self._target = self.place.item
        self._lines = audit_lines(
            await self.host.access.study(lambda library: audit_records(library, self._place.skill))
        )
        empty = ("no skill was audited yet", "germline audit SKILL --tasks FOLDER --agent CMD")
        self.show_header(audit_header, empty=None if self._lines else empty)
        self.find(done=True)

    def list_items(self) -> None:
        """List the evaluators that are asked for."""
        self.show_list([line for line in self._lines if self.needle.casefold() in line.address], audit_row)
        self.return_to_target(lambda line, name: line.address == name)
        self.show_bar()

    def show_selected(self) -> None:
        """Tell about an evaluator."""
        self.show_detail(audit_detail_rows)
        self.refresh_bindings()

    # -- what the cursor is on -------------------------------------------------------------------------

    @property
    def place(self) -> ScreenAddress:
        """The place with the evaluator that the cursor is on."""
        line = self._selected if self.is_mounted else None
        return ScreenAddress("audits", self._place.skill, item=line.address if line else self._target)

    @property
    def crumbs(self) -> list[str]:
        """Audits, and of which skill."""
        return ["Audits", *([self._place.skill] if self._place.skill else [])]

    @property
    def note(self) -> str:
        """How far the audit under the cursor is."""
        if (line := self._selected) is None:
            return ""
        ended = line.record.ended
        return f"{count(len(line.record.judged), 'draft')} judged{'' if ended else ', not ended yet'}"

    @property
    def copied_id(self) -> str:
        """The audit."""
        return self._selected.record.started.audit if self._selected else ""

    @property
    def command(self) -> str:
        """The command that shows the audit."""
        return (
            f"germline audit {self._selected.record.started.capsule} --status"
            if self._selected
            else "germline status"
        )

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what there is."""
        if action == "candidate":
            return self.offered(self._candidate)
        return super().check_action(action, parameters)

    @property
    def _candidate(self) -> str:
        ended = self._selected.record.ended if self._selected else None
        return ended.candidate if ended else ""

    def action_candidate(self) -> None:
        """Show the candidate that the audit ended with."""
        if self._candidate:
            self.host.go(ScreenAddress("review", item=self._candidate))

    def on_row_list_chosen(self) -> None:
        """Show the candidate of the row that was clicked twice."""
        self.action_candidate()
