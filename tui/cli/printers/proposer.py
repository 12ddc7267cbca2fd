"""Who proposes in a run of evolution: the miners, which need no model, or a model."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import RefusedError, UsageError
from registry.skill_md.write_places import recorded_place
from registry.state.capsule import is_skill_name
from tui.cli.config.model_options import some_model
from tui.cli.output.facts import say_fact, say_facts
from tui.facts.fact import listed
from tui.text.numbers import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.registry import Registry
    from strategies.evolve.loop import Evolution
    from strategies.evolve.reflect import Reflecting
    from strategies.evolve.results import CycleResult
    from strategies.models.recorded_model import RecordedModel
    from strategies.models.tape import Tape
    from tui.cli.config.config import Config
    from tui.cli.output.invocation import Invocation

OFFLINE: Final = "offline"
CLAUDE: Final = "claude"

Proposer = Annotated[
    str,
    typer.Option(
        "--proposer", metavar="NAME", help="Who proposes: offline (mined from logs, no model) or claude (a model)."
    ),
]


@contextmanager
def reflecting_of(
    registry: Registry,
    config: Config,
    proposer: str,
    *,
    tape: Tape | None,
    dry_run: bool,
) -> Iterator[Reflecting | None]:
    """Lend what asks a model, None where the miners propose; what cannot work is reported before anything is read.

    Raises: UsageError where no model is named, CredentialsError where it would be asked without a key,
    RefusedError for a dry run that would have to send something, UntrustedError for models of the project's.
    """
    if proposer == OFFLINE:
        if tape is not None and not config.rollouts.decide:
            raise UsageError("--model-replay is for a run in which a model is asked", hint="--proposer claude")
        yield None
        return
    if proposer != CLAUDE:
        raise UsageError(f"no proposer is named {proposer}", hint=f"--proposer {OFFLINE}, or --proposer {CLAUDE}")
    config.require("models", "evolve.skills_folder")
    name = config.models.model_for("proposer")
    if dry_run and tape is None:
        raise RefusedError(
            f"a dry run sends nothing to {name}: what it paid for could not be kept",
            hint="germline evolve --proposer claude --dry-run --model-replay FILE",
        )
    with some_model(registry, config, tape=tape, dry_run=dry_run) as model:
        require_key(model, name)
        from strategies.evolve.reflect import Reflecting  # noqa: PLC0415 - most runs ask no model

        yield Reflecting(model, recorded_place(str(skills_folder(registry, config)), registry.log.beside))


def skills_folder(registry: Registry, config: Config) -> Path:
    """Say where new skills are written: as it is set, else where the others lie, else in `skills` here."""
    if config.skills_folder is not None:
        return config.skills_folder
    folders = {Path(registry.capsule(name).source).parent for name in registry.names() if is_skill_name(name)}
    return folders.pop() if len(folders) == 1 else Path.cwd() / "skills"


def require_key(model: RecordedModel, name: str) -> None:
    """Ask for a key now where it will be needed: a recording that is complete does without."""
    if model.endpoint is not None and (model.tape is None or model.tape.records):
        model.endpoint.require_key(name)


def print_model(call: Invocation, result: Evolution) -> None:
    """Say what a model was asked, what became of its suggestions, and what it cost."""
    report = result.model
    if report is None:
        return
    cost = "price unknown" if report.cost_usd is None else f"{report.cost_usd:.4f} USD"
    replayed = f", {report.replayed} replayed" if report.replayed else ""
    names = ", ".join(report.models) or "nothing asked"
    asked = f"{count(report.prompts, 'prompt')}{replayed}, {count(report.tokens, 'token')}, {cost}"
    say_fact(call, "model", f"{names}: {asked}")
    died = report.refuted_on_explore + report.refuted_on_sealed
    where = f" ({report.refuted_on_explore} on explore, {report.refuted_on_sealed} on sealed logs)" if died else ""
    rest = [
        f"{getattr(report.tally, word)} {words}"
        for word, words in (
            ("misfit", "did not fit the skill"),
            ("repeated", "said before"),
            ("refused", "rejected before"),
            ("contradicting", "contradicted another"),
            ("clipped", "beyond the edit budget"),
        )
        if getattr(report.tally, word)
    ]
    outcomes = [
        f"{promoted(result.cycles)} promoted",
        f"{died} refuted by logs{where}",
        *([f"{report.refuted_by_runs} refuted by runs"] if report.refuted_by_runs else []),
        f"{report.quarantined} quarantined",
        *rest,
    ]
    if report.tally.suggested or not report.written:
        say_fact(call, "", f"of {count(report.tally.suggested, 'suggestion')}: {', '.join(outcomes)}")
    if report.written:
        say_fact(call, "", f"{count(report.written, 'draft')} by the writer, for a person to decide on")
    say_facts(call, listed("failed", report.failures))


def promoted(cycles: tuple[CycleResult, ...]) -> int:
    """Count the promotions of this run."""
    return sum(cycle.verdict == "promote" and not cycle.remembered for cycle in cycles)
