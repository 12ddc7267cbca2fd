"""The gate: how often it is wrong, and one of its verdicts step by step."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import CheckFailedError, NotFoundError
from strategies.binding import bound_by
from strategies.gate.selftest import ALLOWED, COMPARISONS
from strategies.intake import all_episodes
from strategies.presets import DEFAULT_PRESET, PRESETS
from tui.bootstrap import find_registry, open_library
from tui.cli.config import read_config
from tui.cli.invocation import invocation
from tui.cli.judged import explanation_json, print_explanation
from tui.cli.log_reading import read_logs
from tui.cli.names import SHOWN_CHARS, named_candidate
from tui.cli.options import AsJson
from tui.cli.progress import Counted
from tui.figures import count, interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.gate.selftest import SelfTest
    from strategies.logs.episode import EpisodeRecord
    from strategies.presets import Preset
    from tui.cli.invocation import Invocation

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
    from strategies.selftesting import selftest  # noqa: PLC0415 - `gate explain` needs none of it

    call = invocation(ctx)
    config = read_config()
    draws = config.seed if seed is None else seed
    records, bound = _material(call, logs or (), preset)
    with Counted(call, "comparing", comparisons) as progress:
        found = selftest(records, bound, seed=draws, comparisons=comparisons, on_comparison=progress.advance)
    held = found.false_promotion_rate <= ALLOWED
    if as_json:
        fields = {
            "kind": found.kind,
            "preset": bound.name,
            "seed": draws,
            "episodes": len(records),
            "sources": found.sources,
            "false_promotion_rate": found.false_promotion_rate,
            "n": found.n,
            "low": found.low,
            "high": found.high,
            "mean_rises": found.mean_rises,
            "allowed": ALLOWED,
            "ok": held,
        }
        call.answer("gate-selftest", fields)
    else:
        _print(call, found, bound.name, draws)
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


def _print(call: Invocation, found: SelfTest, preset: str, seed: int) -> None:
    what = {
        "trials": f"a skill against itself: the trials of {count(found.sources, 'task')}, two by two",
        "shuffled": f"{count(found.sources, 'claim')} in turn, on outcomes shuffled anew each time",
        "recovered": f"{count(found.sources, 'claim')} in turn, on `recovered` shuffled anew each time",
    }[found.kind]
    held = found.false_promotion_rate <= ALLOWED
    mark = call.paint("✓", "good") if held else call.paint("✗", "bad")
    rose = round(found.mean_rises * found.n)
    promoted = round(found.false_promotion_rate * found.n)
    call.say(
        f"{'self-test':<11}{count(found.n, 'comparison')} where nothing changed, preset {preset}, seed {seed}"
    )
    call.say(f"{'':<11}{what}, all tasks sealed")
    call.say(
        f"{'gate':<11}{mark} {found.false_promotion_rate:.1%} promoted, {promoted} of {found.n} "
        f"{interval(found.low, found.high)}; stated: at most {ALLOWED:.1%}"
    )
    call.say(f"{'mean rises':<11}  {found.mean_rises:.1%} promoted, {rose} of {found.n}: common practice")
    if found.n < _ENOUGH:
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
    from strategies.explaining import explained  # noqa: PLC0415 - `gate selftest` needs none of it

    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        found = named_candidate(library, candidate)
        explanation, preset = explained(library, found)
    if as_json:
        call.answer("gate-explain", explanation_json(found, explanation, preset.name))
        return
    print_explanation(call, found, explanation, preset.name)
    call.say(f"\n  germline candidate show {found.id[:SHOWN_CHARS]}    germline preset show {preset.name}")


COMMANDS: Final = {"gate": gate}
