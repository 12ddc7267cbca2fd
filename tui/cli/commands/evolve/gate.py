"""The gate: how often it is wrong, and one of its verdicts step by step."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import CheckFailedError, NotFoundError
from strategies.gate.selftest import ALLOWED, COMPARISONS
from strategies.policy.active_preset import bound_by
from strategies.policy.presets import DEFAULT_PRESET, PRESETS
from strategies.pool.intake import all_episodes
from tui.cli.config.config import read_config
from tui.cli.config.read_logs import read_logs
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.cli.output.progress import Counted
from tui.cli.printers.gate_rules import print_explanation
from tui.documents.measurements import GateSelftestDocument
from tui.session.bootstrap import find_registry, open_library
from tui.text.names import SHOWN_CHARS, named_candidate
from tui.text.numbers import count, interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.selftest import SelfTest
    from strategies.policy.presets import Preset
    from tui.cli.output.invocation import Invocation

_ENOUGH: Final = 100
"""Comparisons below which a rate of 3.5 % cannot be told from one of 10 % (computed: Wilson's interval)."""

gate = typer.Typer(help="Measure how often the gate is wrong; explain its verdicts.", rich_markup_mode=None)


@gate.command("selftest")
def selftest_gate(
    ctx: typer.Context,
    *,
    logs: Annotated[
        list[str] | None,
        typer.Option("--logs", metavar="PATH", help="Test on these, else on all the registry knows; repeatable."),
    ] = None,
    comparisons: Annotated[int, typer.Option(min=1, metavar="N", help="How many comparisons.")] = COMPARISONS,
    preset: Annotated[str, typer.Option(metavar="P", help="Whose numbers; else those of the one in force.")] = "",
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="The seed of every random draw; else that of germline.toml.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure the gate's real rate of false promotions, where nothing changed.

    Where logs repeat tasks, a skill is compared with itself: each task's trials are split two against two. Else
    claims go to the gate on shuffled outcomes. All tasks count as sealed. Nothing is written; above 3.5 % the exit
    code is 3.
    """
    from strategies.evolve.run_selftest import selftest  # noqa: PLC0415 - `gate explain` needs none of it

    call = invocation(ctx)
    config = read_config()
    draws = config.seed if seed is None else seed
    records, bound = _material(call, logs or (), preset)
    with Counted(call, "comparing", comparisons) as progress:
        result = selftest(records, bound, seed=draws, comparisons=comparisons, on_comparison=progress.advance)
    held = result.false_promotion_rate <= ALLOWED
    if as_json:
        document = GateSelftestDocument(
            kind=result.kind,
            preset=bound.name,
            seed=draws,
            episodes=len(records),
            sources=result.sources,
            false_promotion_rate=result.false_promotion_rate,
            n=result.n,
            low=result.low,
            high=result.high,
            mean_rises=result.mean_rises,
            allowed=ALLOWED,
            ok=held,
        )
        call.answer(document)
    else:
        _print(call, result, bound.name, draws)
    if not held:
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


def _print(call: Invocation, result: SelfTest, preset: str, seed: int) -> None:
    what = {
        "trials": f"a skill against itself: the trials of {count(result.sources, 'task')}, two by two",
        "shuffled": f"{count(result.sources, 'claim')} in turn, on outcomes shuffled again each time",
        "recovered": f"{count(result.sources, 'claim')} in turn, on `recovered` shuffled again each time",
    }[result.kind]
    held = result.false_promotion_rate <= ALLOWED
    mark = call.paint("✓", "good") if held else call.paint("✗", "bad")
    rose = round(result.mean_rises * result.n)
    promoted = round(result.false_promotion_rate * result.n)
    call.say(
        f"{'self-test':<11}{count(result.n, 'comparison')} where nothing changed, preset {preset}, seed {seed}"
    )
    call.say(f"{'':<11}{what}, all tasks sealed")
    call.say(
        f"{'gate':<11}{mark} {result.false_promotion_rate:.1%} promoted, {promoted} of {result.n} "
        f"{interval(result.low, result.high)}; stated: at most {ALLOWED:.1%}"
    )
    call.say(f"{'mean rises':<11}  {result.mean_rises:.1%} promoted, {rose} of {result.n}: common practice")
    if result.n < _ENOUGH:
        call.note(
            f"note       fewer than {_ENOUGH} comparisons cannot tell {ALLOWED:.1%} from three times as much"
        )
    call.say(f"{'next':<11}germline gate explain CANDIDATE    germline preset list")


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


COMMANDS: Final = {"gate": gate}
