"""Watching: logs read as they grow, and, where it is asked for, turns of evolution when a signal comes up."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock, monotonic_s
from events.errors import GermlineError
from registry.actions.publish import look_at
from registry.evidence.log_paths import kept_path
from registry.skill_md.render import expected_hashes
from strategies.evolve.loop import Plan, evolve
from strategies.files.watch import stopped_by_signals
from strategies.logs.formats_table import broken_readers
from strategies.monitor.disk_edits import disk_edits, held_back
from strategies.policy.active_preset import bound_by
from strategies.policy.auto import AUTO
from strategies.pool.tail_logs import tail_into
from tui.cli.commands.logs.watch_rechecks import Rechecks, terms_of
from tui.cli.config.config import read_config
from tui.cli.config.read_logs import chosen_logs, tell_broken_readers, tell_passed_over
from tui.cli.output.color import width
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.cli.output.progress import LiveLine
from tui.cli.printers.evolve import print_cycle
from tui.cli.printers.rollback import print_taken_back, print_tier_moves
from tui.cli.printers.trials import step_and_tell, try_supported
from tui.documents.evolve import EvolveRun
from tui.documents.logs import RecheckRow, WatchDocument
from tui.session.open_registry import find_registry, open_registry
from tui.text.numbers import count
from tui.text.signal_words import kind_columns
from tui.text.terminal_text import clip
from tui.text.words import file_edit_words, signal_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.registry import Registry
    from registry.skill_md.disk import FileSnapshot
    from strategies.evolve.results import CycleResult
    from strategies.logs.reader_plugins import BrokenReader
    from strategies.logs.scan import Scan
    from strategies.pool.intake import Intake
    from tui.cli.config.config import Config
    from tui.cli.output.invocation import Invocation

_TIME: Final = slice(11, 19)
"""Hours, minutes and seconds of an RFC 3339 time."""


def watch(
    ctx: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH…]", help="Logs or folders; else as `scan` finds them."),
    ] = None,
    *,
    evolving: Annotated[
        bool, typer.Option("--evolve", help="Take turns of evolution when a signal newly crosses its threshold.")
    ] = False,
    every: Annotated[
        str,
        typer.Option("--recheck", metavar="24h", help="Measure the versions in use again, at most this often."),
    ] = "",
    floor: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, metavar="SCORE", help="Tell when one of them falls under this score."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Without PATH: sessions of every project, not of this one alone.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read logs as they grow, until it is stopped.

    Ctrl-C or SIGTERM finishes the batch at hand and ends well. With --evolve promotions are held for review,
    unless `promote` is set under [watch] in germline.toml: `germline evolve` then promotes what was held.
    """
    terms = terms_of(every, floor)
    call = invocation(ctx)
    config = read_config()
    if evolving:
        config.require("rollouts")
    logs, only = chosen_logs(call, paths, config, everything=everything, waits=True)
    with (
        open_registry(find_registry(call.registry)) as registry,
        stopped_by_signals() as stop,
        LiveLine(call) as live,
    ):
        rechecks = Rechecks(registry, terms, seed=config.seed, logs=config.skill_logs(registry))
        watched = _Watched(call, registry, config, live, rechecks, evolving=evolving, as_json=as_json)
        call.note(f"watching   {', '.join(kept_path(str(path)) for path in logs)}; Ctrl-C ends it")
        for path in logs:
            if not path.exists():
                call.note(f"warning    {kept_path(str(path))} is not there yet: it is read once it is")
        watched.tell_broken_readers(broken_readers())
        tail_into(
            registry,
            logs,
            stop,
            on_batch=watched.batch,
            after_look=watched.looked,
            every_s=config.look_every_s,
            only=only,
            policy=config.policy,
        )
    watched.ended()


class _Watched:
    """What a watch has seen so far, and when it last evolved."""

    def __init__(
        self,
        call: Invocation,
        registry: Registry,
        config: Config,
        live: LiveLine,
        rechecks: Rechecks,
        *,
        evolving: bool,
        as_json: bool,
    ) -> None:
        self._call, self._registry, self._config, self._live = call, registry, config, live
        self._rechecks, self._evolving, self._as_json = rechecks, evolving, as_json
        self._due = bool(registry.signals())  # those that came up before may never have had a turn
        self._put_off, self._unlooked = "", True
        self._evolved_s: float | None = None
        self._read_s = monotonic_s()
        self._bytes = self._episodes = self._signals = 0
        self._broken: set[str] = set()
        self._unseen_files = ""
        self._files: dict[str, dict[str, FileSnapshot]] = {}
        self._broken_readers: set[BrokenReader] = set()

    def tell_broken_readers(self, broken: Sequence[BrokenReader]) -> None:
        """Tell of each plug-in that does not work once, however often it is asked."""
        tell_broken_readers(self._call, [reader for reader in broken if reader not in self._broken_readers])
        self._broken_readers |= set(broken)

    def batch(self, scan: Scan, taken: Intake) -> None:
        """Tell of a batch, and remember whether a signal came up."""
        self._live.clear()
        self._read_s, self._unlooked = monotonic_s(), True
        self._bytes += scan.text_bytes
        self._episodes += taken.new_episodes
        self._signals += len(taken.signals)
        self._due = self._due or bool(taken.signals)
        self.tell_broken_readers(scan.broken_readers)
        if self._as_json:
            self._line(WatchDocument.of_batch(SystemClock().now(), scan, taken))
            return
        broken = {unreadable.message for unreadable in scan.broken}
        if scan.malformed or broken - self._broken:
            tell_passed_over(self._call, scan)
        self._broken |= broken
        for signal in taken.signals:
            name = clip(signal_name(signal), width() - 40)
            self._call.say(f"{self._now()}  signal  {kind_columns(signal.kind, f'{signal.count:,}')}  {name}")
        self._call.flush()

    def looked(self) -> None:
        """Take turns and steps of trials where they are due, and write the live line again."""
        logs = self._config.skill_logs(self._registry)
        step_and_tell(self._call, self._registry, logs, looking=self._unlooked)
        self._unlooked = False
        waited = self._evolved_s is None or monotonic_s() - self._evolved_s >= self._config.evolve_every_s
        if self._evolving and self._due and waited:
            self._due, self._evolved_s = False, monotonic_s()
            self._live.clear()
            self._evolve()
        self._recheck()
        self._look_at_files()
        quiet_s = monotonic_s() - self._read_s
        self._live.show(f"watching  {self._words()}; nothing new for {quiet_s:,.0f} s")

    def ended(self) -> None:
        """Sum up."""
        if not self._as_json:
            self._call.say(f"watched    {self._words()}")

    def _words(self) -> str:
        return (
            f"{self._bytes:,} bytes read, {count(self._episodes, 'new episode')}, "
            f"{count(self._signals, 'new signal')}"
        )

    def _evolve(self) -> None:
        promote, bound = self._config.promote, bound_by(self._registry)
        plan = Plan(
            preset=bound.preset,
            auto=bound.name == AUTO,
            seed=self._config.seed,
            write=promote,
            review=not promote,
            policy=self._config.policy,
            logs=self._config.skill_logs(self._registry),
        )
        if self._config.rollouts.decide:  # nobody is there to pay for runs: what needs them is held
            from tui.cli.config.harness import trials_of  # noqa: PLC0415 - most watches never come here

            plan = replace(plan, trials=trials_of(self._registry, self._config, deferred=True))
        try:
            result = evolve(self._registry, plan, self._tell)
        except GermlineError as error:  # a skill edited by hand must not end the watch
            if error.message != self._put_off:
                self._call.note(f"{self._now()}  evolve  put off: {error.message}")
            self._due, self._put_off = True, error.message
            return
        self._put_off = ""
        if promote and bound.preset.trials:
            try_supported(self._call, self._registry, result.cycles, plan.logs)
        if self._as_json:
            self._line(WatchDocument(at=SystemClock().now(), evolve=EvolveRun.of(result)))
            return
        if result.taken_back or result.moves:
            self._call.say(f"{self._now()}  evolve")
            print_taken_back(self._call, result.taken_back)
            print_tier_moves(self._call, result.moves)
            self._call.flush()
        elif all(cycle.remembered for cycle in result.cycles):
            self._call.note(f"{self._now()}  evolve  nothing new: {result.stop.why}")

    def _look_at_files(self) -> None:
        """Tell of skill files that somebody changed, and hold the change back where the preset says so."""
        try:
            self._tell_file_edits(self._registry)
        except GermlineError as error:  # a folder that cannot be read, or written, must not end the watch
            if error.message != self._unseen_files:
                self._call.note(f"{self._now()}  files  not looked at: {error.message}")
            self._unseen_files = error.message

    def _tell_file_edits(self, registry: Registry) -> None:
        seen = {name: look_at(registry.capsule(name)) for name in registry.names()}
        if seen == self._files:
            return
        edits = disk_edits(registry)
        if bound_by(registry).preset.hold_edits:
            edits = held_back(registry, edits)
            seen = {name: look_at(registry.capsule(name)) for name in registry.names()}
        self._files = seen
        for edit in edits:
            words = file_edit_words(edit, expected_hashes(registry.capsule(edit.skill)))
            aside = " --held" if edit.held else ""
            self._call.note(f"{self._now()}  files  {words}: germline adopt {edit.skill}{aside} --dry-run")

    def _recheck(self) -> None:
        rechecked = self._rechecks.due()
        if rechecked and self._as_json:
            rows = tuple(RecheckRow.of(version, self._rechecks.floor) for version in rechecked)
            self._line(WatchDocument(at=SystemClock().now(), recheck=rows))
        elif rechecked:
            self._live.clear()
            for version in rechecked:
                self._call.say(f"{self._now()}  recheck  {self._rechecks.words(version)}")
            self._call.flush()

    def _tell(self, cycle: CycleResult) -> None:
        if not self._as_json and not cycle.remembered:
            self._call.say(f"{self._now()}  evolve")
            print_cycle(self._call, cycle)

    def _line(self, document: WatchDocument) -> None:
        self._call.answer(document, indent=None)
        self._call.flush()

    def _now(self) -> str:
        return SystemClock().now()[_TIME]


COMMANDS: Final = {"watch": watch}
