"""kill -9 during a trial: at any system call of the commands that switch, count and end it, while time jumps.

Commands run in a process of their own with a clock that is set. It kills itself before a call to the system or to
the database that chance names: no speed of a machine decides where. Sessions go on meanwhile, and load what lies
in the folder. What each block was to hold, and what is to be counted, is worked out here from the seed of the
trial and from the sessions that were made.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections import Counter
from contextlib import closing, contextmanager
from datetime import timedelta
from hashlib import sha256
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from unittest.mock import patch

from events.clock import SystemClock, rfc3339
from events.sqlite.log import SqliteLog
from events.sqlite.verify import verify_file
from events.types.trial_events import TrialAssigned
from registry.query.library import Library
from registry.query.trials import trials_of
from tests.clocks import START
from tests.registries import LOOK, NAME
from tests.terminal import Terminal
from tests.torture.kills import differs_from_rebuild
from tests.torture.outcome import Outcome
from tests.trial_worlds import HOUR, TrialWorld

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from random import Random
    from types import FrameType

    from registry.state.trial import SkillTrial

BLOCK_S: Final = 4 * HOUR
BEGAN_S: Final = 61 * HOUR
"""When the world before the trial ends, and the trial begins."""
SEED: Final = "torture"
BY_HAND: Final = "Round nothing.", "Round to cents."
_JUMPS_S: Final = (80 * HOUR, -500 * HOUR, 9 * HOUR, -30 * HOUR)
_LONGEST_S: Final = 8
_PLACES: Final = 400
"""How many places a command is expected to have before it was run once."""


class Seen(NamedTuple):
    """A session that was made: when it began and ended, whether it succeeded."""

    began_s: float
    ended_s: float
    won: bool


def _heads(unit: str) -> bool:
    """Tell how the coin falls for a unit, from the seed of the trial alone."""
    return int.from_bytes(sha256(f"{SEED}:0:{unit}".encode()).digest()[:8]) / 2**64 < 0.5


def _start_of(block: int) -> float:
    return BEGAN_S + block * BLOCK_S


def _block_of(seen: Seen) -> int:
    began, ended = ((at_s - BEGAN_S) // BLOCK_S for at_s in (seen.began_s, seen.ended_s))
    return int(began) if began == ended else -1


class KilledTrial:
    """A trial by blocks, run by the command line alone, and killed as it goes."""

    def __init__(
        self, chance: Random, folder: Path, outcome: Outcome, *, gain: float, block: str = "4h", often: float = 0.7
    ) -> None:
        self.chance, self.outcome, self.often = chance, outcome, often
        self.world = TrialWorld(folder, gain=gain, seed=chance.randrange(1_000))
        self.world.registry.log.close()
        self.path = folder / "registry.db"
        self.germline = Terminal(folder, GERMLINE_REGISTRY=str(self.path))
        self.at_s, self.off_s = BEGAN_S, 0.0
        self.sessions: list[Seen] = []
        self.edited, self.switches = False, False
        self._places: Counter[str] = Counter()
        words = ("--candidate", "c1", "--block", block, "--budget", "60", "--gain", "0.5", "--seed", SEED, "--yes")
        self.does(
            "trial", "start", NAME, *words, may=(0, 2), kill=True
        )  # 2: it runs already, by one that was killed
        self.switches = block != "session"

    def does(self, *words: str, may: tuple[int, ...] = (0,), kill: bool = False) -> Any:  # noqa: ANN401 - whatever a command promises as JSON
        """Run a command to its end at the time it is, killed on the way some times before that."""
        name = " ".join(words[:2])
        while kill and self.chance.random() < self.often:  # so often that repairs are killed as well
            if not self._killed(self.chance.randrange(self._places[name] or _PLACES), *words):
                return None  # it got to its end
            self.outcome.add("kills")
            if self.switches and self.chance.random() < 0.5:
                self.session()
        with self._clock(), _places_counted(self._places, name):
            answer = self.germline(*words)
        self.outcome.expect(answer.code in may, f"{' '.join(words)}: {answer.err}")
        return json.loads(answer.out) if "--json" in words and answer.code == 0 else None

    def session(self) -> None:
        """Let a session come, take two minutes, and load what lies in the folder."""
        began_s = self.at_s + 10
        won = self.world.session(began_s, took_s=100.0)
        self.sessions.append(Seen(began_s, began_s + 100, won))
        self.at_s += 130

    def block(self, *, sessions: int, kill: bool) -> None:
        """Go on to the next block, let it be switched, and sessions come and be read."""
        self.at_s = _start_of(self.block_now + 1) + 5
        self.does("trial", "step", NAME, kill=kill)
        for _ in range(sessions):
            self.session()
        self.read(kill=kill)

    def read(self, *, kill: bool) -> None:
        """Let the logs of the sessions that are over be read."""
        lines = "".join(json.dumps(line) + "\n" for line in self.world.waiting)
        self.world.waiting = []
        self.germline.write(f"logs/{len(self.sessions)}.jsonl", lines)
        if (
            kill
            and self.chance.random() < self.often
            and self._killed(self.chance.randrange(3 * _PLACES), "watch", "logs")
        ):
            self.outcome.add("kills")
        self.does("scan", "logs", kill=kill)

    def jump(self) -> None:
        """Let the clock be wrong for one step, and right again."""
        self.off_s = self.chance.choice(_JUMPS_S)
        self.does("trial", "step", NAME, kill=True)
        self.off_s = 0.0
        self.does("trial", "step", NAME)
        self.outcome.add("jumps")

    def edit(self) -> None:
        """Let a person change a line of the skill by hand, nobody write over it, and have it adopted."""
        file = self.world.place / "SKILL.md"
        changed = self.world.text().replace(*BY_HAND)
        file.write_text(changed, encoding="utf-8")
        self.at_s = _start_of(self.block_now + 1) + 5
        self.does("trial", "step", NAME, kill=True)
        self.outcome.expect(self.world.text() == changed, "an edit was written over")
        self.does("adopt", NAME, kill=True, may=(0, 1, 2))  # a second time there is nothing to adopt
        self.does("trial", "step", NAME)
        self.edited = True

    def expect_folder(self) -> None:
        """Hold the folder to what the block of now was to hold."""
        text = self.world.text()
        self.outcome.expect(
            (LOOK in text) == self.meant(self.block_now), f"block {self.block_now} holds the other arm"
        )
        self.outcome.expect((BY_HAND[1] in text) == self.edited, "what a person wrote is not there")

    @property
    def block_now(self) -> int:
        """Which block it is."""
        return int((self.at_s - BEGAN_S) // BLOCK_S)

    def meant(self, block: int) -> bool:
        """Tell whether a block was to hold the line, from the seed alone."""
        pair, second = divmod(block, 2)
        return _heads(f"pair {pair}") != bool(second)

    def trial(self) -> SkillTrial:
        """Read the trial."""
        with closing(SqliteLog.open(self.path, read_only=True)) as log:
            return trials_of(Library(log), NAME)[-1]

    def account(self) -> None:
        """Hold assignments, counts, figures and the registry itself to what they must be."""
        trial, expect = self.trial(), self.outcome.expect
        with closing(SqliteLog.open(self.path)) as log:
            assigned = [envelope.event for envelope in log.read(types=("TrialAssigned",))]
            self.outcome.add("torn projections", differs_from_rebuild(log))
        for event in assigned:
            assert isinstance(event, TrialAssigned)
            expect(event.given == (self.meant(int(event.unit)),), f"block {event.unit} was given the other arm")
        units = {unit.unit: unit for unit in trial.counted}
        expect(len(units) == len(trial.counted), "a pair was counted twice")
        wanted = self._pairs()
        expect(units.keys() == wanted.keys(), f"{[*units]} were counted, not {[*wanted]}")
        for name in units.keys() & wanted.keys():
            parts, unit = wanted[name], units[name]
            expect(
                unit.given == (self.meant(2 * int(name.removeprefix("pair "))),), f"{name} counts as the other arm"
            )
            expect(
                unit.sessions == tuple(map(len, parts)),
                f"{name}: {unit.sessions} counted, {[*map(len, parts)]} came",
            )
            means = tuple(fmean(seen.won for seen in part) for part in parts)
            expect(unit.outcomes == means, f"{name} came to {means}, not to {unit.outcomes}")
        if trial.results:
            self._expect_figures(trial, wanted)
        expect(not verify_file(str(self.path)).problems, "it does not verify")
        self.outcome.add("blocks", len({event.unit for event in assigned if isinstance(event, TrialAssigned)}))
        self.outcome.add("sessions counted", sum(sum(unit.sessions) for unit in trial.counted))

    def _pairs(self) -> dict[str, tuple[list[Seen], list[Seen]]]:
        """Give the sessions of the pairs that are over: a session began when a block had passed since."""
        pairs: dict[str, tuple[list[Seen], list[Seen]]] = {}
        last = max((seen.began_s for seen in self.sessions), default=0.0)
        for pair in range(self.block_now + 1):
            parts = (
                ([], [])
                if last < _start_of(2 * pair + 3)
                else tuple(
                    [seen for seen in self.sessions if _block_of(seen) == block]
                    for block in (2 * pair, 2 * pair + 1)
                )
            )
            if all(parts):
                pairs[f"pair {pair}"] = parts[0], parts[1]
        return pairs

    def _expect_figures(self, trial: SkillTrial, wanted: dict[str, tuple[list[Seen], list[Seen]]]) -> None:
        arms: dict[bool, list[bool]] = {True: [], False: []}
        for name, parts in wanted.items():
            first = self.meant(2 * int(name.removeprefix("pair ")))
            for given, part in zip((first, not first), parts, strict=True):
                arms[given] += [seen.won for seen in part]
        for given, arm in ((True, trial.results[0].given), (False, trial.results[0].denied)):
            self.outcome.expect(
                arm.sessions == len(arms[given]), f"{arm} does not count {len(arms[given])} sessions"
            )
            self.outcome.expect(
                abs((arm.mean or 0.0) - fmean(arms[given])) < 1e-9, f"{arm}: not {fmean(arms[given])}"
            )

    @contextmanager
    def _clock(self) -> Iterator[None]:
        now = rfc3339(START + timedelta(seconds=self.at_s + self.off_s))
        with patch.object(SystemClock, "now", lambda _: now):
            yield

    def _killed(self, place: int, *words: str) -> bool:
        """Run a command in a process of its own that dies at a place; False where it ended before that."""
        child = os.fork()
        if child == 0:
            try:
                signal.setitimer(signal.ITIMER_REAL, _LONGEST_S)  # a watch that gets past that place dies of it
                with self._clock(), open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123 - no path
                    os.dup2(nowhere.fileno(), 2)
                    sys.setprofile(_Places(place).count)
                    self.germline(*words)
                    sys.setprofile(None)
            except BaseException:  # noqa: BLE001 - nothing of the tests may go on in here
                traceback.print_exc()
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        return os.WIFSIGNALED(status)


class _Places:
    """Counts calls to the system and the database, and kills this process before one of them."""

    def __init__(self, last: int = -1) -> None:
        self.last, self.passed = last, 0

    def count(self, frame: FrameType, event: str, called: object) -> None:
        """Be told of a call, as sys.setprofile does."""
        del frame
        if event != "c_call" or not _writes(called):
            return
        if self.passed == self.last:
            os.kill(os.getpid(), signal.SIGKILL)
        self.passed += 1


def _writes(called: object) -> bool:
    """Tell whether a call may change what lies on disk."""
    of = type(getattr(called, "__self__", None)).__module__
    return (
        of == "sqlite3"
        or getattr(called, "__module__", "") == "posix"
        or getattr(called, "__name__", "") == "write"
    )


@contextmanager
def _places_counted(places: Counter[str], name: str) -> Iterator[None]:
    counting = _Places()
    sys.setprofile(counting.count)
    try:
        yield
    finally:
        sys.setprofile(None)
        places[name] = counting.passed


def kill_during_trial(chance: Random, folder: Path, *, blocks: int, gain: float, often: float = 0.7) -> Outcome:
    """Kill whatever switches, counts, adopts and ends, for a number of blocks or until the trial is decided."""
    outcome = Outcome("kill during a trial")
    story = KilledTrial(chance, folder, outcome, gain=gain, often=often)
    edited, jumped = chance.sample(range(1, blocks), 2)
    strange = {jumped: story.jump, edited: story.edit}
    for at in range(blocks):
        if story.trial().ended:
            break
        strange.get(at, story.expect_folder)()
        story.block(sessions=chance.randint(2, 6), kill=True)
        if not story.trial().ended:
            story.expect_folder()
    story.account()
    decided = story.trial().results[0].decision if story.trial().ended else "stopped"
    story.does("trial", "stop", NAME, "--reason", "enough", may=(0, 2), kill=True)
    outcome.expect(story.trial().ended, "it was stopped and runs")
    outcome.expect(
        (LOOK in story.world.text()) == (decided == "proven"), f"{decided}, and the folder says otherwise"
    )
    outcome.expect((BY_HAND[1] in story.world.text()) == story.edited, "what a person wrote is lost")
    outcome.remark = decided
    return outcome


def kill_while_picking(chance: Random, folder: Path, *, sessions: int) -> Outcome:
    """Kill `pick` as it draws the arms of sessions: who asks again gets the same, and each is counted as drawn."""
    outcome = Outcome("kill while picking")
    story = KilledTrial(chance, folder, outcome, gain=0.0, block="session")
    wanted: dict[str, tuple[bool, float]] = {}
    for number in range(sessions):
        name = f"picked-{number}"
        words = ("pick", NAME, "--session", name, "--json")
        story.does(*words, kill=True)
        picked = story.does(*words)
        text = (folder / picked["folder"] / "SKILL.md").read_text(encoding="utf-8")
        won = story.world.session(story.at_s, name=name, text=text)
        wanted[name] = LOOK in text, float(won)
        story.at_s += 600
    story.read(kill=True)
    story.does("scan", "logs")
    counted = {unit.unit: (unit.given[0], unit.outcomes[0]) for unit in story.trial().counted}
    outcome.expect(counted == wanted, f"{counted} were counted, not {wanted}")
    for name, (had, _) in wanted.items():
        outcome.expect(had == _heads(name), f"{name} was given the other arm")
    outcome.add("sessions counted", len(counted))
    return outcome
