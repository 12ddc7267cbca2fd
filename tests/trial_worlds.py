"""Sessions under trial, generated: what each loaded is read off the folder, and its outcome follows from that."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from events.clock import rfc3339
from events.types.parts import Edit
from registry.actions.repair_folders import repair
from registry.query.trials import running_trial, trials_of
from registry.skill_md.render import stamped_version
from strategies.pool.intake import scan_into
from strategies.trials import trial_terms
from strategies.trials.run_trial import assign, look, start_trial, switch
from strategies.trials.trial_power import power_of
from strategies.trials.trial_terms import TrialTerms, plan_trial
from tests.clocks import START, SetClock
from tests.registries import LOOK, NAME, imported, judged, new_registry, proposal

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry
    from registry.state.trial import SkillTrial
    from strategies.trials.trial_power import History, Power

HOUR = 3_600.0
BY_BLOCKS = TrialTerms(candidates=("c1",), block_s=int(4 * HOUR))
BY_SESSIONS = TrialTerms(candidates=("c1",))


@cache
def _played(history: History, block_s: int, budget: int, gain: float) -> Power:
    return power_of(history, block_s=block_s, budget=budget, gain=gain, draws=Random(1))


def _power_of(history: History, *, block_s: int, budget: int, gain: float, draws: Random) -> Power:
    """Tell what trials on the same terms could find, played through once for all of them."""
    del draws
    return _played(history, block_s, budget, gain)


class TrialWorld:
    """A registry with a held candidate, sessions that come one after the other, and a clock that is set by hand.

    `base` is the chance of a session to succeed, `gain` what the line on trial adds to it.
    """

    def __init__(
        self, folder: Path, *, base: float = 0.5, gain: float = 0.0, seed: int = 1, held: bool = True
    ) -> None:
        self.folder, self.base, self.gain = folder, base, gain
        self.clock = SetClock(seed=seed)
        self.draws = Random(seed)
        self.registry: Registry = new_registry(folder, self.clock)
        self.place = imported(self.registry, folder)
        self.number = 0
        self.began_s = 0.0
        self.waiting: list[dict[str, Any]] = []
        if held:
            self.propose()
        for at in range(60):
            self.session(at * HOUR)
        self.clock.at_s = 61 * HOUR
        self.scan()

    def propose(self, text: str = LOOK, candidate: str = "c1", gene: int = 0) -> None:
        """Hold a candidate that appends a line."""
        capsule = self.registry.capsule(NAME)
        edit = Edit(op="append", gene=capsule.genes[gene].id, text=(text,))
        judged(self.registry, proposal(capsule, edit, candidate=candidate), "hold")

    def text(self) -> str:
        """Read what lies in the skill's folder."""
        return (self.place / "SKILL.md").read_text(encoding="utf-8")

    def session(self, at_s: float, *, name: str = "", text: str | None = None, took_s: float = 60.0) -> bool:
        """Let a session begin, load what lies in the folder (or `text`), work for a while and end."""
        loaded = self.text() if text is None else text
        won = self.draws.random() < self.base + (self.gain if LOOK in loaded else 0.0)
        self.number += 1
        name = name or f"s{self.number}"
        stamp = loaded.partition('germline: "')[2].partition('"')[0]
        version = stamp or str(stamped_version(loaded, NAME) or 1)
        begun, ended = (rfc3339(START + timedelta(seconds=at_s + more)) for more in (0.0, took_s))
        self.waiting += [
            {
                "type": "episode",
                "episode": name,
                "task": name,
                "run": "r",
                "skills": [[NAME, version]],
                "started_at": begun,
            },
            {
                "type": "step",
                "episode": name,
                "tool": "sql",
                "text": "SELECT 1",
                "result": name,
                "started_at": ended,
            },
            {"type": "outcome", "episode": name, "value": float(won)},
        ]
        return won

    def scan(self) -> None:
        """Read the sessions that are over into the registry."""
        path = self.folder / f"log-{self.number}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in self.waiting), encoding="utf-8")
        self.waiting = []
        scan_into(self.registry, [path])

    def start(self, terms: TrialTerms = BY_BLOCKS) -> SkillTrial:
        """Begin a trial: of the held candidate, by blocks of four hours unless the terms say otherwise."""
        self.began_s = self.clock.at_s
        with patch.object(trial_terms, "power_of", _power_of):
            return start_trial(self.registry, plan_trial(self.registry, NAME, terms, None))

    def live(self, hours: float, *, every_s: float = 1_200.0, looking: float = 8.0) -> None:
        """Let sessions come for some hours, the folder be switched on time, and the trial be looked at."""
        until = self.clock.at_s + hours * HOUR
        looked, before = self.clock.at_s, -1.0
        while self.clock.at_s < until and self.running:
            block = (self.clock.at_s - self.began_s) // (4 * HOUR)
            if block != before:
                switch(self.registry, NAME)
            before = block
            self.session(self.clock.at_s + 30.0)
            self.clock.at_s += every_s
            if self.clock.at_s - looked >= looking * HOUR:
                looked = self.clock.at_s
                self.scan()
                look(self.registry, NAME, None)

    def picks(self, sessions: int, *, looking: int = 50) -> None:
        """Let sessions come that are given their text one by one."""
        for at in range(sessions):
            trial = running_trial(self.registry, NAME)
            if trial is None:
                return
            self.number += 1
            name = f"p{self.number}"
            given = assign(self.registry, trial, name)
            text = (given.folder / "SKILL.md").read_text(encoding="utf-8")
            self.session(self.clock.at_s, name=name, text=text)
            self.clock.at_s += 600.0
            if at % looking == looking - 1:
                self.scan()
                look(self.registry, NAME, None)

    def reopen(self) -> None:
        """Do what opening a registry does for its folders."""
        repair(self.registry)

    @property
    def running(self) -> bool:
        """Whether the trial still runs."""
        return running_trial(self.registry, NAME) is not None

    @property
    def trial(self) -> SkillTrial:
        """The last trial."""
        return trials_of(self.registry, NAME)[-1]
