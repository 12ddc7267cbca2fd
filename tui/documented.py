"""The documents that are made from the code itself: events, presets, signals, claims and keys.

`python -m tui.documented` writes them into docs/; a test says when they are not what the code says.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args, get_origin

from events import claims as claim_types
from events.types import EVENT_TYPES
from strategies.claims.kinds import KINDS
from strategies.presets import PRESETS
from strategies.signals.detect import DEFAULTS, DETECTORS
from strategies.signals.streaks import SuccessStreak
from strategies.signals.uncovered import UncoveredFailure
from tui import keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual.binding import Binding

    from events.base import Frozen
    from strategies.signals.signal import Detector

_MADE: Final = "Made by `python -m tui.documented` from what the code says; edit it there.\n"
_STREAMS: Final = {
    "registry": "the registry",
    "judge": "judges and advice",
    "model": "what was asked of models",
    "gene": "a gene",
    "capsule": "a skill",
    "candidate": "a candidate",
}
"""What the modules of events are about, by the beginning of their names."""
SIGNALS: Final[tuple[Detector | UncoveredFailure | SuccessStreak, ...]] = (
    *DETECTORS,
    UncoveredFailure(),
    SuccessStreak(),
)
"""Every family; each of the last two is looked for in its own way."""
_CLAIMS: Final[tuple[type[Frozen], ...]] = (*KINDS, claim_types.PluginClaim)
_EXAMPLES: Final = (
    claim_types.AfterError(template="no such table: <*>", do="sql:PRAGMA", avoid="sql:SELECT"),
    claim_types.After(action="Bash:git push", k=2, failing=True, avoid="Bash:git push"),
    claim_types.Before(action="Bash:git commit", do="Bash:git status"),
    claim_types.StartWith(do="sql:SHOW"),
    claim_types.FinishWith(do="Bash:pytest"),
    claim_types.Output(pattern="^[0-9]+$"),
)


def documents() -> dict[str, str]:
    """Write every document, by the name of its file."""
    made: dict[str, Callable[[], Iterable[str]]] = {
        "events.md": _events,
        "presets.md": _presets,
        "signals.md": _signals,
        "claims.md": _claims,
        "keys.md": _keys,
    }
    return {name: "\n".join(write()).rstrip() + "\n" for name, write in made.items()}


def _events() -> Iterable[str]:
    yield "# Events\n"
    yield _MADE
    yield (
        "All that can have happened, as the log keeps it: a header (position, event id, stream, version,\n"
        "type, schema, time, actor, causation, correlation, previous hash, hash) and a payload with the\n"
        "fields below. What came later has a default, so that older events read the same.\n"
    )
    told = ""
    for event in EVENT_TYPES:
        about = event.__module__.rpartition(".")[2].removesuffix("_events")
        if about != told:
            told = about
            yield f"## Of {_STREAMS[about]}\n"
        yield f"### {event.__name__}\n"
        yield f"{_doc(event)}\n"
        yield from _fields(event)


def _fields(model: type[Frozen]) -> Iterable[str]:
    rows = []
    for name, one in model.model_fields.items():
        if len(get_args(one.annotation)) == 1 and get_origin(one.annotation) is Literal:
            continue  # what tells the classes apart
        default = "" if one.is_required() else f"`{one.get_default(call_default_factory=True)!r}`"
        rows.append((f"`{name}`", f"`{_type_words(model, name)}`", default))
    if rows:
        yield from _table(("field", "type", "default"), rows)
        yield ""


def _type_words(model: type[Frozen], name: str) -> str:
    """Write the type of a field as its class does."""
    for owner in model.__mro__:
        if name in inspect.get_annotations(owner):
            return re.sub(r"\s+", " ", _written(owner)[name]).replace("|", "or")
    raise KeyError(name)


@cache
def _written(owner: type) -> dict[str, str]:
    """Read the types of the fields of a class from its source: evaluated, they no longer say `Reason`."""
    (shape,) = ast.parse(inspect.getsource(owner)).body
    return {
        ast.unparse(line.target): ast.unparse(line.annotation)
        for line in ast.walk(shape)
        if isinstance(line, ast.AnnAssign)
    }


def _presets() -> Iterable[str]:
    yield "# Presets\n"
    yield _MADE
    yield (
        "Named numbers that bind the strategies. They may tighten the gate, never loosen it. `germline\n"
        "preset show` prints one, [configuration.md](configuration.md#presets-of-your-own) says how to\n"
        "define your own.\n"
    )
    rows = [
        (
            f"`{one.name}`",
            f"{one.weights.repair} / {one.weights.harden} / {one.weights.innovate}",
            f"{one.edit_budget.start} → {one.edit_budget.floor}",
            f"{one.trust_region:.0%}",
            "yes" if one.bears_genes else "no",
            f"{one.alpha:g}",
            f"{one.least_e:g}",
            ", ".join(one.endpoints),
        )
        for one in PRESETS.values()
    ]
    head = (
        "preset",
        "repair / harden / innovate, %",
        "edits",
        "trust region",
        "new genes",
        "alpha",
        "least E",
        "endpoints",
    )
    yield from _table(head, rows)


def _signals() -> Iterable[str]:
    yield "# Signals\n"
    yield _MADE
    yield (
        "Recurring, typed observations over episodes, each with a fingerprint and evidence. `germline\n"
        "signals` lists those that were raised, `--quality` how well each kind tells failed runs from\n"
        "good ones.\n"
    )
    for detector in SIGNALS:
        yield f"## {detector.kind}\n"
        yield f"{_doc(type(detector))}\n"
    yield "## Thresholds\n"
    yield "In germline.toml under `[signals]`; [configuration.md](configuration.md) says what each is for.\n"
    yield from _table(
        ("key", "default"), [(f"`{key}`", f"`{value}`") for key, value in DEFAULTS.model_dump().items()]
    )


def _claims() -> Iterable[str]:
    yield "# Claims\n"
    yield _MADE
    yield (
        "What a learned line asserts about logs, so that logs can refute it: when it applies, and what\n"
        "obeying it looks like. Exposure is decided at one moment, by the very next action. Another\n"
        "package may bring kinds of its own, by an entry point in the group `germline.claims`.\n"
    )
    examples = {type(one): one for one in _EXAMPLES}
    for claim in _CLAIMS:
        (kind,) = get_args(claim.model_fields["kind"].annotation)
        yield f"## {kind}\n"
        yield f"{_doc(claim)}\n"
        yield from _fields(claim)
        if claim in examples:
            yield f"As a line: *{KINDS[claim].sentence(examples[claim])}*\n"


def _keys() -> Iterable[str]:
    yield "# Keys of the screens\n"
    yield _MADE
    yield (
        "`?` lists the keys that work where you are. Each has an id, by which it can be given other keys\n"
        "([configuration.md](configuration.md)).\n"
    )
    for title, bindings in key_groups().items():
        yield f"## {title}\n"
        rows = [
            (
                " ".join(f"`{key.strip()}`" for key in one.key.split(",")),
                one.tooltip or one.description,
                f"`{one.id}`",
            )
            for one in bindings
        ]
        yield from _table(("keys", "what it does", "id"), rows)
        yield ""


def key_groups() -> dict[str, Sequence[Binding]]:
    """Give every list of bindings that tui/keys.py names, by its name as a title."""
    groups = {name: value for name, value in vars(keys).items() if isinstance(value, list) and name.isupper()}
    return {name.replace("_", " ").capitalize(): value for name, value in groups.items()}


def _doc(thing: type) -> str:
    """Give what a class says of itself."""
    return inspect.cleandoc(thing.__doc__ or "")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterable[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |"


def main() -> int:
    """Write the documents into docs/ of the project."""
    folder = Path(__file__).resolve().parent.parent / "docs"
    for name, text in documents().items():
        (folder / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"written    docs/{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
