"""The gate: how often it is wrong, and one of its verdicts step by step."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import CheckFailedError, NotFoundError
from strategies.gate.selftest import COMPARISONS
from strategies.policy.active_preset import bound_by
from strategies.policy.presets import DEFAULT_PRESET, PRESETS
from strategies.pool.known_episodes import all_episodes
from tui.cli.commands.evolve.gate_pairs import gate_pairs
from tui.cli.config.config import read_config
from tui.cli.config.read_logs import read_logs
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.cli.output.progress import LiveLine
from tui.cli.printers.gate_rules import print_explanation
from tui.session.open_registry import find_registry, open_library
from tui.text.names import SHOWN_CHARS, named_candidate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.episodes.episode import EpisodeRecord
    from strategies.policy.presets import Preset
    from tui.cli.output.invocation import Invocation

gate = typer.Typer(help="Judge results of others; explain verdicts; say how it errs.", rich_markup_mode=None)


@gate.command("selftest")
def selftest_gate(
    ctx: typer.Context,
    *,
    logs: Annotated[
        list[str] | None,
        typer.Option("--logs", metavar="PATH", help="Test on these, else on all the registry knows; repeatable."),
    ] = None,
    comparisons: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="How many of each kind; else 200, or 50 with --quick.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer comparisons, and the 5 strongest claims.")] = False,
    preset: Annotated[str, typer.Option(metavar="P", help="Whose numbers; else those of the one in force.")] = "",
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The seed of every random draw; else that of germline.toml.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure the gate's real error rates, where nothing changed and where nothing can have.

    Where logs repeat tasks, a skill is compared with itself. Claims go to the gate on shuffled outcomes, on
    placebo actions and errors, and on what came before a decision; what all runs but one show is asked in the
    one. All tasks count as sealed. Nothing is written; where a rate is surely above what the gate states, the exit
    code is 3.
    """
    from strategies.evolve import run_selftest  # noqa: PLC0415 - `gate explain` needs none of it
    from tui.cli.printers.gate_selftest import print_selftest, selftest_document  # noqa: PLC0415 - nor of this

    call = invocation(ctx)
    config = read_config()
    draws = config.seed if seed is None else seed
    records, bound = _material(call, logs or (), preset)
    with LiveLine(call) as progress:
        results = run_selftest.selftests(
            records,
            bound,
            seed=draws,
            comparisons=comparisons or (run_selftest.QUICK if quick else COMPARISONS),
            claims_at_most=run_selftest.QUICK_CLAIMS if quick else run_selftest.CLAIMS,
            on_comparison=lambda kind, done, total: progress.show(f"{kind}  {done:,} of {total:,}"),
        )
    document = selftest_document(results, preset=bound.name, seed=draws, episodes=len(records))
    if as_json:
        call.answer(document)
    else:
        print_selftest(call, document, results)
    if not document.ok:
        raise typer.Exit(CheckFailedError.exit_code)


def _material(call: Invocation, logs: Sequence[str], preset: str) -> tuple[Sequence[EpisodeRecord], Preset]:
    """Read the logs that were named, else what the registry knows; named logs need no registry."""
    try:
        where = find_registry(call.registry)
    except NotFoundError:
        if not logs or preset not in {"", *PRESETS}:
            raise
        bound, records = PRESETS[preset or DEFAULT_PRESET], []
    else:
        with open_library(where) as library:
            bound = bound_by(library, preset).preset
            records = [] if logs else all_episodes(library)
    if logs:
        return read_logs(call, [Path(path).expanduser() for path in logs], read_config()).records, bound
    if not records:
        raise NotFoundError("the registry knows no episode yet", hint="germline gate selftest --logs PATH")
    return records, bound


@gate.command("explain")
def explain_verdict(
    ctx: typer.Context,
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="An id, or the beginning of one.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Explain a verdict: each rule, its figure, what it asks for, and what is missing.

    The rules are applied again to the figures that were stored, under the preset that judged; nothing is measured.
    """
    from strategies.gate.explain import explain_stored  # noqa: PLC0415 - `gate selftest` needs none of it

    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        stored = named_candidate(library, candidate)
        explanation, preset = explain_stored(library, stored)
    if as_json:
        from tui.documents.candidates import GateExplainDocument, verdict_fields  # noqa: PLC0415 - for scripts alone

        call.answer(GateExplainDocument(**verdict_fields(stored, explanation, preset.name)))
        return
    print_explanation(call, stored, explanation, preset.name)
    call.say(f"\n  germline candidate show {stored.id[:SHOWN_CHARS]}    germline preset show {preset.name}")


gate.command("pairs")(gate_pairs)

COMMANDS: Final = {"gate": gate}
