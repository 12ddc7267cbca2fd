"""Proposers of a training: a model, a local command, or Python of another package.

Other packages bring proposers as entry points of the group `germline.proposers`: a function `propose(case)`, or a
class without arguments that has one. A command reads the case as JSON on its standard input, and prints
`{"changes": [...]}`; both shapes are those of `strategies/models/tasks/training_case.py`.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar, cast

from pydantic import ValidationError

from events.errors import GermlineError, NotFoundError, UpstreamError, UsageError
from events.types.frozen import Frozen
from registry.evidence.redaction import without_secrets
from registry.evidence.scrub_text import compact, scrubbed
from strategies.models.tasks.ask_training import suggest_changes
from strategies.models.tasks.training_case import TrainingChange, TrainingReflection
from strategies.rollouts.run.agent_templates import with_files
from strategies.rollouts.run.runner import CapReachedError
from strategies.sandbox.confined_run import ConfinedCommand, installed, run, run_folder

if TYPE_CHECKING:
    from strategies.models.recorded_model import RecordedModel
    from strategies.models.tasks.training_case import TrainingCase
    from strategies.sandbox.confined_run import SandboxPolicy
    from strategies.train.explore_variants import ExploreVariants

GROUP: Final = "germline.proposers"
REFLECT: Final = "reflect"
"""The name of the proposer that asks the model of the role `proposer`."""
_SHIPPED: Final = (
    EntryPoint("pareto", "strategies.train.pareto:propose", GROUP),
    EntryPoint("gepa", "strategies.train.gepa_search:propose", GROUP),
)
"""Searches of a population that germline brings."""
_EXTRAS: Final = {"gepa": "python -m pip install gepa, into the environment of germline"}
_ENTRY: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_LIMIT_S: Final = 600.0
"""What a command may take for one epoch (a guess)."""
_MOST_SHOWN_CHARS: Final = 300
CHANGES: Final = '{"changes": [{"reason": "…", "edits": [{"op": "append", "gene": "…", "text": "…"}]}]}'
Propose = Callable[[Any], Any]
S = TypeVar("S", bound=Frozen)


class ProposedChange(NamedTuple):
    """A change, and who proposes it, as its events name them."""

    change: TrainingChange
    actor: str


class TrainingProposer(Protocol):
    """Answers a case with changes, the most important first; never sees anything of another split."""

    @property
    def name(self) -> str:
        """What it is called in events: the same name is the same training."""
        ...

    def propose(self, case: TrainingCase) -> list[ProposedChange]:
        """Propose changes of the skill; raises UpstreamError where that fails, or what asking a model raises."""
        ...


@dataclass
class ReflectProposer:
    """Asks a model: minibatch by minibatch, then over all that came of it; `failures` are replies of no use."""

    model: RecordedModel
    name: str = REFLECT
    failures: list[str] = field(default_factory=list)

    def propose(self, case: TrainingCase) -> list[ProposedChange]:
        """Ask; what some minibatches lost takes nothing from the others."""
        self.model.begin_cycle()
        trained = suggest_changes(self.model, case)
        self.failures += trained.failures
        return [ProposedChange(change, actor) for change, actor in trained.changes]


@dataclass(frozen=True)
class PythonProposer:
    """Calls Python of another package, foreign code: whatever it raises is named, and ends the training."""

    name: str
    call: Propose

    def propose(self, case: TrainingCase) -> list[ProposedChange]:
        """Call it; it may give changes, or the same as JSON values."""
        return _read(self.name, self._called(case, lambda given: {"changes": [_plain(each) for each in given]}))

    def answer(self, case: Frozen) -> str:
        """Call it with a case of any shape, and give its answer as JSON."""
        return self._called(case, _plain)

    def _called(self, case: Frozen, shaped: Callable[[Any], object]) -> str:
        try:
            return json.dumps(shaped(self.call(scrubbed_case(case))), default=str)
        except (Exception, SystemExit) as error:
            raise _broken(self.name, error) from error


@dataclass(frozen=True)
class PopulationProposer:
    """Searches variants of the live version: it runs them on explore tasks, and another proposer has the ideas."""

    name: str
    call: Callable[[TrainingCase, ExploreVariants], Iterable[TrainingChange]]
    ideas_of: TrainingProposer

    def search(self, variants: ExploreVariants) -> list[ProposedChange]:
        """Call it; who had an idea is the actor of its change."""
        try:
            changes = [TrainingChange.model_validate(_plain(each)) for each in self.call(variants.case, variants)]
        except (GermlineError, CapReachedError):
            raise
        except (Exception, SystemExit) as error:
            raise _broken(self.name, error) from error
        own = f"proposer:{self.name}"
        return [ProposedChange(change, variants.actors.get(change, own)) for change in changes]


@dataclass(frozen=True)
class CommandProposer:
    """Runs a command in the sandbox, in a folder of its own; registry and `hidden` are closed to it."""

    name: str
    argv: tuple[str, ...]
    policy: SandboxPolicy
    hidden: tuple[Path, ...] = ()
    network: bool = False
    passes: tuple[str, ...] = ()

    def propose(self, case: TrainingCase) -> list[ProposedChange]:
        """Run it with the case on its standard input, and read what it prints."""
        return _read(self.name, self.answer(case))

    def answer(self, case: Frozen) -> str:
        """Run it with a case of any shape, and give what it prints."""
        with run_folder("proposer-") as root:
            home, place = root / "home", root / "case.json"
            home.mkdir()
            place.write_text(scrubbed_case(case).model_dump_json(), encoding="utf-8")
            ran = run(
                ConfinedCommand(
                    argv=(installed(self.argv[0]), *self.argv[1:]),
                    cwd=home,
                    root=root,
                    writable=(home,),
                    limit_s=_LIMIT_S,
                    environment={"HOME": str(home), "TMPDIR": str(home)},
                    passes=self.passes,
                    stdin=place,
                    hidden=self.hidden,
                    network=self.network,
                ),
                self.policy,
            )
        if not ran.succeeded:
            last = (ran.error or ran.stderr or ran.stdout).strip()[-_MOST_SHOWN_CHARS:]
            raise UpstreamError(
                f"the proposer {self.name} failed ({ran.ended}, code {ran.code}): {last or 'it said nothing'}",
                hint="try it by hand with a case on its standard input; docs/train.md shows one",
            )
        return ran.stdout


def _broken(name: str, error: BaseException) -> UpstreamError:
    return UpstreamError(
        f"the proposer {name} broke: {error!r}", hint="tell its author, or choose another --proposer"
    )


def scrubbed_case(case: S) -> S:
    """Give the case without secrets, as a model is shown it: notes of graders may hold some."""
    return type(case).model_validate_json(compact(scrubbed(case.model_dump(mode="json"))))


def _plain(change: object) -> object:
    """Give a change as a JSON value."""
    dump = getattr(change, "model_dump", None)
    return dump(mode="json") if callable(dump) else change


def read_answer(name: str, text: str, shape: type[S], example: str) -> S:
    """Read what a proposer answered; raises UpstreamError, with an example, for what is none."""
    try:
        return shape.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "all of it"
        raise UpstreamError(
            f"the proposer {name} gave no changes that can be read: {place}: {first['msg']}", hint=example
        ) from error


def _read(name: str, text: str) -> list[ProposedChange]:
    reflection = read_answer(name, text, TrainingReflection, CHANGES)
    return [ProposedChange(change, f"proposer:{name}") for change in reflection.changes]


def plugged_proposers() -> dict[str, EntryPoint]:
    """Find the proposers that germline and other packages bring, by name."""
    return {
        entry.name: entry
        for entry in (*_SHIPPED, *sorted(entry_points(group=GROUP), key=lambda entry: entry.name))
    }


def python_proposer(name: str, entry: EntryPoint | None = None) -> PythonProposer:
    """Load a proposer of another package, or `module:function`; raises UsageError where there is none."""
    return PythonProposer(name, _loaded(entry or EntryPoint(name, name, GROUP)))


def population_named(text: str) -> tuple[str, str] | None:
    """Divide `SEARCH:IDEAS` into a search and who has its ideas, `reflect` where nobody is named.

    None where no search has that name. Raises: UsageError for one that cannot be loaded.
    """
    name, _, ideas = text.partition(":")
    entry = plugged_proposers().get(name)
    return (name, ideas or REFLECT) if entry and _is_search(_loaded(entry)) else None


def population_proposer(name: str, ideas_of: TrainingProposer) -> PopulationProposer:
    """Load a search of a population by its name; the same search with other ideas is another training."""
    return PopulationProposer(f"{name}:{ideas_of.name}", _loaded(plugged_proposers()[name]), ideas_of)


def _loaded(entry: EntryPoint) -> Callable[..., Any]:
    try:
        loaded = entry.load()
        made = loaded() if isinstance(loaded, type) else loaded
    except (Exception, SystemExit) as error:
        hint = _EXTRAS.get(entry.name, "module:function, on the path of this Python")
        raise UsageError(f"the proposer {entry.name} cannot be loaded: {error!r}", hint=hint) from error
    call = getattr(made, "propose", made)
    if not callable(call):
        raise UsageError(
            f"the proposer {entry.name} has no propose(case)", hint="docs/train.md says what one needs"
        )
    return cast("Callable[..., Any]", call)


def _is_search(call: Callable[..., Any]) -> bool:
    """Tell whether a proposer takes variants beside the case."""
    needed = [known for known in signature(call).parameters.values() if known.default is known.empty]
    return len(needed) == 2  # noqa: PLR2004 - propose(case, variants)


def local_proposer(
    text: str,
    policy: SandboxPolicy,
    *,
    tasks: Path | None = None,
    network: bool = False,
    passes: tuple[str, ...] = (),
) -> PythonProposer | CommandProposer:
    """Find the proposer of this name, or make one of `module:function` or of a command template.

    To a command the folder of the file `tasks` is closed; where the command lies in that, the file alone. Events
    name it without secrets. Raises: UsageError for what is none of these.
    """
    plugged = plugged_proposers()
    if population_named(text):
        raise UsageError(
            f"the proposer {text} searches a population, by runs on tasks, which is for `germline train` alone",
            hint=f"name who has the ideas instead: {REFLECT}, module:function or a command",
        )
    if text in plugged:
        return python_proposer(text, plugged[text])
    if _ENTRY.fullmatch(text):
        return python_proposer(text)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(
            f"the proposer's command cannot be split: {error}: {text}", hint="close the quote"
        ) from error
    places = [Path(word).resolve() for word in words]
    argv = (str(places[0]),) if len(words) == 1 else with_files(words, Path())
    if not argv or (len(argv) == 1 and not places[0].is_file()):
        known = ", ".join((REFLECT, *plugged))
        raise UsageError(
            f"no proposer is named {text!r}", hint=f"by name: {known}; or module:function, or a command with words"
        )
    try:
        program = installed(argv[0])
    except NotFoundError as error:
        raise UsageError(f"the proposer {text!r}: {error.message}", hint=error.hint) from error
    closed = () if tasks is None else (_closed(tasks.resolve(), places),)
    name = without_secrets(text)
    return CommandProposer(name, (program, *argv[1:]), policy, closed, network=network, passes=passes)


def _closed(tasks: Path, places: Iterable[Path]) -> Path:
    """Name what a command may not read of a task set: its folder, or the file where it lies in that itself."""
    inside = any(at.is_file() and at.is_relative_to(tasks.parent) for at in places)
    return tasks if inside else tasks.parent
