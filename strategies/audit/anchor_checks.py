"""Anchors of a task, compiled from its requirements: declarative checks alone, tried before they are locked."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from strategies.audit.evaluators.table_text import SEPARATORS, table_format, table_of
from strategies.audit.requirements import FILE_NAME
from strategies.rollouts.run.leftovers import AgentWork
from strategies.rollouts.run.run_checks import examine
from strategies.rollouts.tasks.check_types import (
    Check,
    CommandExits,
    FileExists,
    FirstLine,
    JsonShape,
    Matches,
    OneOf,
    check_name,
)
from strategies.rollouts.tasks.workspace import write_files
from strategies.sandbox.confined_run import SandboxPolicy, run_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from strategies.audit.evaluators.evaluator_types import Deliverable, TaskRequirements
    from strategies.rollouts.tasks.task import RolloutTask

_MOST_ANCHORS: Final = 50
_NAME_CHARS: Final = 200
_TEXT: Final = frozenset({"txt", "md", ""})
_EXAMPLE: Final = re.compile(r"example|sample|template|expected", re.IGNORECASE)
_CHECKS: Final[TypeAdapter[Check]] = TypeAdapter(Check)
_COUNT: Final = re.compile(
    r"\b(?:count|number of)\s+(?:the\s+|all\s+)*(lines|rows|records|entries)\b", re.IGNORECASE
)
_FOLD: Final = re.compile(
    r"\b(sum|total|average|mean|maximum|minimum|largest|smallest)\s+(?:of\s+)?(?:the\s+)?(?:column\s+)?"
    r"[`\"']([\w.\- ]+)[`\"']",
    re.IGNORECASE,
)
_QUALIFIED: Final = re.compile(
    r"\b(?:where|whose|which|with|per|each|by|unique|distinct|different|only|except|excluding|ignoring|if|after|"
    r"before|between|rounded|percent)\b|[%<>]",
    re.IGNORECASE,
)
"""Words after which a value is more than one count or sum: then it is not recomputed, rather than wrongly."""
_FOLDS: Final[Mapping[str, Callable[[list[Fraction]], Fraction]]] = {
    "sum": lambda numbers: sum(numbers, Fraction()),
    "total": lambda numbers: sum(numbers, Fraction()),
    "average": lambda numbers: sum(numbers, Fraction()) / len(numbers),
    "mean": lambda numbers: sum(numbers, Fraction()) / len(numbers),
    "maximum": max,
    "largest": max,
    "minimum": min,
    "smallest": min,
}
_ROW_WORDS: Final = frozenset({"rows", "records", "entries"})


class DroppedCheck(NamedTuple):
    """A check that was compiled and is no anchor: its name, and why."""

    name: str
    why: str


class CompiledAnchors(NamedTuple):
    """The checks of a task that were kept, and those that were dropped."""

    kept: tuple[Check, ...]
    dropped: tuple[DroppedCheck, ...]


def compiled_anchors(
    task: RolloutTask, requirements: TaskRequirements, texts: Mapping[str, str], suggested: Iterable[object] = ()
) -> CompiledAnchors:
    """Compile the anchors of a task, and try each on what the task begins with and on its own examples.

    `texts` are the text files of its workspace; `suggested` are a model's, taken where they are declarative. A
    check that holds before anything is done, or on no example, is dropped.
    """
    checks = {check_name(check): check for check in task.anchors}
    dropped = list[DroppedCheck]()
    for check in (*_stated(requirements), *_recomputed(requirements, texts)):
        checks.setdefault(check_name(check), check)
    for given in suggested:
        if (read := _declarative(given)) is None:
            dropped.append(DroppedCheck(str(given)[:80], "it is none of the declarative checks"))
        else:
            checks.setdefault(check_name(read), read)
    with run_folder("anchors-") as folder:
        write_files(folder, task.files, task.folder)
        work = AgentWork(task, folder, "", SandboxPolicy())
        kept = list[Check]()
        for name, check in checks.items():
            why = "" if isinstance(check, CommandExits) else _useless(check, work, texts)
            if why or len(kept) >= _MOST_ANCHORS:
                dropped.append(DroppedCheck(name, why or f"there are {_MOST_ANCHORS} already"))
            else:
                kept.append(check)
    return CompiledAnchors(tuple(kept), tuple(dropped))


def _declarative(given: object) -> Check | None:
    """Read a check that a model suggests; None for a command, and for what is no check."""
    try:
        check = _CHECKS.validate_python(given)
    except ValidationError:
        return None
    return None if isinstance(check, CommandExits) else check


def _stated(requirements: TaskRequirements) -> Iterator[Check]:
    """Give the checks that follow from what a task states of each file."""
    for file in requirements.deliverables:
        yield FileExists(name=f"{file.path} is there", path=file.path)
        if file.format in SEPARATORS and file.header:
            line = SEPARATORS[file.format].join(file.header)
            yield FirstLine(name=f"{file.path} has the header {line}"[:_NAME_CHARS], path=file.path, line=line)
        if file.format == "json":
            yield JsonShape(name=f"{file.path} is JSON", path=file.path)
        if file.format in {"json", "jsonl"}:
            for key in file.header:
                pattern = rf'"{re.escape(key)}"\s*:'
                name = f"{file.path} has the key {key}"[:_NAME_CHARS]
                yield Matches(name=name, path=file.path, pattern=pattern)
        yield from _of_values(file)


def _of_values(file: Deliverable) -> Iterator[Check]:
    for key, values in file.values.items():
        if (file.format == "json" and key) or (file.format in _TEXT and not key):
            name = f"{file.path}{f' {key}' if key else ''} is one of {', '.join(values)}"[:_NAME_CHARS]
            yield OneOf(name=name, path=file.path, key=key, values=values)


def _recomputed(requirements: TaskRequirements, texts: Mapping[str, str]) -> Iterator[Check]:
    """Compute a count, sum, mean or extreme again that the only file asked for is to hold, of the only file named.

    A sentence that says more of it than which file and column is left alone.
    """
    if len(requirements.deliverables) != 1:
        return
    path = requirements.deliverables[0].path
    for sentence in requirements.requirements:
        inputs = [name for name in FILE_NAME.findall(sentence) if name in texts]
        plain = sentence.replace(path, "")
        if len(inputs) == 1 and not _QUALIFIED.search(plain):
            value = _value(plain, inputs[0], texts[inputs[0]])
            if value is not None:
                pattern = rf"(?:^|[^\d.,]){re.escape(value)}(?:\.0+)?(?:[^\d.,]|[.,](?:\D|$)|$)"
                yield Matches(name=f"{path} holds {value}, as {inputs[0]} gives it", path=path, pattern=pattern)


def _value(sentence: str, path: str, text: str) -> str | None:
    counted, folded = _COUNT.search(sentence), _FOLD.search(sentence)
    if bool(counted) == bool(folded):
        return None
    table = table_of(path, text)
    if counted:
        if counted.group(1).lower() in _ROW_WORDS:
            return None if table is None or not table.columns else str(len(table.rows))
        return str(len(text.splitlines())) if table_format(path) not in SEPARATORS else None
    if folded is None or table is None or not table.rows or table.columns.count(folded.group(2)) != 1:
        return None
    at = table.columns.index(folded.group(2))
    try:
        numbers = [Fraction(row[at].strip()) for row in table.rows]
    except (IndexError, ValueError, ZeroDivisionError):
        return None
    value = _FOLDS[folded.group(1).lower()](numbers)
    return _decimal(value)


def _decimal(value: Fraction) -> str | None:
    """Write a value with its at most four decimals; None where it takes more: nobody says how it is rounded."""
    scaled = value * 10_000
    if scaled.denominator != 1:
        return None
    return f"{float(value):.4f}".rstrip("0").rstrip(".")


def _useless(check: Check, work: AgentWork, texts: Mapping[str, str]) -> str:
    """Say why a check proves nothing, "" where it may."""
    if examine(check, work).holds:
        return "it holds before anything is done"
    path = getattr(check, "path", "")
    examples = [name for name in texts if name != path and _is_example(name, path)]
    if not examples or isinstance(check, FileExists):
        return ""
    held = any(examine(check.model_copy(update={"path": name}), work).holds for name in examples)
    return "" if held else f"it fails on the task's own example {examples[0]}"


def _is_example(name: str, path: str) -> bool:
    """Tell whether a file of the workspace is an example of one that is asked for: of its format, and so named."""
    example, wanted = PurePosixPath(name), PurePosixPath(path)
    return example.suffix == wanted.suffix and bool(_EXAMPLE.search(name)) and wanted.stem.lower() in name.lower()
