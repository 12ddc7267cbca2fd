"""Differences in documents: files line by line, and what happened between two versions."""

from typing import TYPE_CHECKING, Final, Literal

from registry.query.diffs import ending
from tui.documents.document import Document, Part
from tui.documents.events import LogDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from registry.query.diffs import DiffLine
    from strategies.gate.file_findings import FileFinding

Operation = Literal["equal", "add", "remove"]
_OPERATIONS: Final[dict[str, Operation]] = {" ": "equal", "+": "add", "-": "remove"}


class ChangedLine(Part):
    """A line of a diff; `spans` are the (start, end) character ranges that changed."""

    op: Operation
    old: int | None
    new: int | None
    text: str
    ending: str
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, row: "DiffLine") -> "ChangedLine":
        """Read it from the diff."""
        return cls(
            op=_OPERATIONS[row.kind],
            old=row.old_no,
            new=row.new_no,
            text=row.text.rstrip("\r\n"),
            ending=ending(row.text),
            spans=row.spans,
        )


class ChangedFile(Part):
    """A file that differs, line by line."""

    path: str
    lines: tuple[ChangedLine, ...]


class FileFindingRow(Part):
    """A line of a file that a person must see, counted from 1; 0 where it is about the file as a whole."""

    path: str
    line: int
    level: Literal["quarantine", "notice"]
    what: str
    text: str


def finding_rows(findings: "Iterable[FileFinding]") -> tuple[FileFindingRow, ...]:
    """Describe what is to be seen in files."""
    return tuple(map(FileFindingRow.model_validate, findings))


def changed_file_rows(files: "Iterable[tuple[str, Sequence[DiffLine]]]") -> tuple[ChangedFile, ...]:
    """Describe what changed in each file."""
    return tuple(ChangedFile(path=path, lines=tuple(map(ChangedLine.of, rows))) for path, rows in files)


class DiffDocument(Document):
    """Compare two versions by line and word, and the events between."""

    schema_: Literal["germline/diff/1"] = "germline/diff/1"
    skill: str
    a: int
    b: int
    events: tuple[LogDocument, ...]
    files: tuple[ChangedFile, ...]
