"""The documents that are made from the code itself: events, presets, signals, claims and keys.

`python -m tui.docs.make_docs` writes them into docs/; a test says when they are not what the code says.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args, get_origin

from textual.keys import format_key

from events.types import claims as claim_types
from events.types.catalogue import event_types
from registry.query.signal_kinds import kind_word
from strategies.claims.catalogue import KINDS
from strategies.policy.presets import PRESETS
from strategies.signals.detect import DETECTORS
from strategies.signals.streaks import SuccessStreak
from strategies.signals.uncovered_actions import UncoveredFailure
from strategies.usage.description_signals import MISFITS, DescriptionMisfit
from tui.documents.schemas import every_document, schema_text
from tui.text.words import MEANINGS
from tui.widgets import keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from textual.binding import Binding

    from events.types.frozen import Frozen
    from strategies.signals.signal import Detector

_MADE: Final = "Made by `python -m tui.docs.make_docs` from what the code says; edit it there.\n"
_STREAMS: Final = {
    "registry": "the registry",
    "judge": "judges and advice",
    "model": "what was asked of models",
    "gene": "a gene",
    "capsule": "a skill",
    "candidate": "a candidate",
    "trial": "a trial",
    "training": "a training",
    "research": "a research",
    "audit": "an audit",
}
"""What the modules of events are about, by the beginning of their names."""
SIGNALS: Final[tuple[Detector | UncoveredFailure | SuccessStreak | DescriptionMisfit, ...]] = (
    *DETECTORS,
    UncoveredFailure(),
    SuccessStreak(),
    *MISFITS,
)
"""Every family; those behind the detectors are looked for in ways of their own."""
_CLAIMS: Final[tuple[type[Frozen], ...]] = (*KINDS, claim_types.PluginClaim)
_EXAMPLES: Final = (
    claim_types.AfterError(template="no such table: <*>", do="sql:PRAGMA", avoid="sql:SELECT"),
    claim_types.Replace(action="Bash:npm", template="npm error code <*>", do="Bash:pnpm"),
    claim_types.After(action="Bash:git push", k=2, failing=True, avoid="Bash:git push"),
    claim_types.Before(action="Bash:git commit", do="Bash:git status"),
    claim_types.AnytimeBefore(action="Bash:git commit", do="Bash:pytest"),
    claim_types.StartWith(do="sql:SHOW"),
    claim_types.FinishWith(do="Bash:pytest"),
    claim_types.Instead(do="Bash:pnpm", avoid="Bash:npm"),
    claim_types.Never(avoid="Bash:git push"),
    claim_types.OutputClaim(pattern="^[0-9]+$"),
    claim_types.AfterCall(action=claim_types.CHANGE, do=claim_types.CHECK),
    claim_types.AnytimeBefore(action="purchase", do="choose_option"),
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
    pages = {name: "\n".join(write()).rstrip() + "\n" for name, write in made.items()}
    return pages | {f"schemas/{name}.json": schema_text(document) for name, document in every_document().items()}


def _events() -> Iterable[str]:
    yield "# Events\n"
    yield _MADE
    yield (
        "All that can have happened, as the log keeps it: a header (position, event id, stream, version,\n"
        "type, schema, time, actor, causation, correlation, previous hash, hash) and a payload with the\n"
        "fields below. What came later has a default, so that older events read the same.\n"
    )
    last = ""
    for event in event_types():
        about = event.__module__.rpartition(".")[2].removesuffix("_events")
        if about != last:
            last = about
            yield f"## Of {_STREAMS[about]}\n"
        yield f"### {event.__name__}\n"
        yield f"{_doc(event)}\n"
        yield from _fields(event)


def _fields(model: type[Frozen]) -> Iterable[str]:
    rows = []
    for name, field in model.model_fields.items():
        if len(get_args(field.annotation)) == 1 and get_origin(field.annotation) is Literal:
            continue  # what tells the classes apart
        default = "" if field.is_required() else f"`{field.get_default(call_default_factory=True)!r}`"
        rows.append((f"`{name}`", f"`{_type_words(model, name)}`", default))
    if rows:
        yield from _table(("field", "type", "default"), rows)
        yield ""


def _type_words(model: type[Frozen], name: str) -> str:
    """Write the type of a field as its class does, and a choice with what there is to choose from."""
    annotation = model.model_fields[name].annotation
    if get_origin(annotation) is Literal:
        return f"Literal[{', '.join(map(repr, get_args(annotation)))}]"
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
            f"`{preset.name}`",
            f"{preset.weights.repair} / {preset.weights.harden} / {preset.weights.innovate}",
            f"{preset.edit_budget.start} → {preset.edit_budget.floor}",
            f"{preset.trust_region:.0%}",
            "yes" if preset.bears_genes else "no",
            f"{preset.alpha:g}",
            f"{preset.least_e:g}",
            ", ".join(preset.projected),
            "as drafts" if preset.drafts_seen else "not offered",
            "kept aside" if preset.hold_edits else "reported",
        )
        for preset in PRESETS.values()
    ]
    head = (
        "preset",
        "repair / harden / innovate, %",
        "edits",
        "trust region",
        "new genes",
        "alpha",
        "least e-value",
        "projected without a person",
        "seen lines",
        "unadopted edits",
    )
    yield from _table(head, rows)


def _signals() -> Iterable[str]:
    yield "# Signals\n"
    yield _MADE
    yield (
        "Recurring, typed observations over episodes, each with a fingerprint and evidence. `germline\n"
        "signals` lists the facts that they tell, several signals of one fact in a row, `--quality` how well\n"
        "each kind tells failed runs from good ones. `--kind` takes the plain word of a kind, or its name.\n"
    )
    for detector in SIGNALS:
        yield f"## {detector.kind}\n"
        yield f"*{kind_word(detector.kind)}.* {_doc(type(detector))}\n"
    yield "From when each is raised: `[signals]` in [configuration.md](configuration.md).\n"


def _claims() -> Iterable[str]:
    yield "# Claims\n"
    yield _MADE
    yield (
        "What a learned line asserts about logs, so that logs can refute it: when it applies, and what\n"
        "obeying it looks like. Exposure is decided at one moment, by the very next action. Another\n"
        "package may bring kinds of its own, by an entry point in the group `germline.claims`.\n"
    )
    yield (
        "In the place of a class of action a claim may name a meaning, told from the names of tool and\n"
        "command; what could be either, as `sed` or `str_replace_editor`, has none. Meanings are tried beside\n"
        "the classes, and where one class holds as well, the line names that one.\n"
    )
    yield from _table(("name", "any of"), [(f"`{name}`", words) for name, words in MEANINGS.items()])
    yield ""
    examples = {type(claim): claim for claim in _EXAMPLES}
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
                " ".join(f"`{_key_words(key.strip())}`" for key in binding.key.split(",")),
                binding.tooltip or binding.description,
                f"`{binding.id}`",
            )
            for binding in bindings
        ]
        yield from _table(("keys", "what it does", "id"), rows)
        yield ""


def _key_words(key: str) -> str:
    """Write a key as it is on the keyboard, `?` for question_mark; arrows and chords by their names."""
    shown = format_key(key)
    return shown if shown.isascii() and len(shown) == 1 else key


def key_groups() -> dict[str, Sequence[Binding]]:
    """Give every list of bindings that tui/widgets/keys.py names, by its name as a title."""
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
    folder = Path(__file__).resolve().parents[2] / "docs"
    for name, text in documents().items():
        (folder / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"written    docs/{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
