"""The metric harness: a command that prints a number, run side by side, twenty times and more."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from events.errors import UsageError
from strategies.policy.presets import PRESETS
from strategies.rollouts.compare.comparison import Rig
from strategies.rollouts.compare.judge_group import try_out
from strategies.rollouts.compare.metric import MetricFile, MetricRunner, harness_on_metric, load_metric, printed
from strategies.rollouts.run.runner import RunCaps
from strategies.sandbox.confined_run import SandboxPolicy
from tests.clocks import TickingClock
from tests.confining import require_isolation
from tests.fake_runs import rewritten
from tests.registries import NAME, SKILL, imported, new_registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from events.types.runs import Rollouts
    from registry.registry import Registry
    from registry.state.candidate import Candidate
    from strategies.rollouts.run.arms import Arm
    from strategies.sandbox.confined_run import Ran

pytestmark = pytest.mark.xdist_group("metric")  # measured once, not once a worker

FILE = """
name = "seconds"
command = ["sh", "measure.sh", "{skill_dir}/scripts/rate.txt", "{seed}"]
direction = "lower"
bounds = [0.0, 10.0]
steering = "steering.md"
files = ["measure.sh"]
limit_s = 20
"""
MEASURE = r"""text=$(cat "$1")
case $text in *[!0-9.]*) echo "no number" >&2; exit 1;; esac
sum=$(printf '%s %s' "$2" "$text" | cksum)
noise=$(( (${sum%% *} * 374761393 & 0xffffffff) * 1000 >> 32 ))
echo "warming up"
awk -v rate="$text" -v noise="$noise" 'BEGIN { printf "%.3f s\n", rate + noise / 1000 }'
"""
"""Prints the number in a file with some noise; no Python, whose start costs as much again as the confinement."""


def written(folder: Path, **changes: str) -> Path:
    """Write a metric file with what it names."""
    text = FILE
    for old, new in changes.items():
        text = "\n".join(new if line.startswith(old) else line for line in text.splitlines())
    (folder / "metric.toml").write_text(text)
    (folder / "measure.sh").write_text(MEASURE)
    (folder / "steering.md").write_text("Make it faster; keep the answers.\n")
    return folder / "metric.toml"


@contextmanager
def each_measured_once() -> Iterator[None]:
    """Give again what a version printed with a seed: the old one meets each of them beside every change."""
    ran = MetricRunner.ran
    known: dict[tuple[str, int], Ran] = {}

    def once(runner: MetricRunner, arm: Arm, command: Sequence[str], seed: int) -> Ran:
        if (arm.digest, seed) not in known:
            known[arm.digest, seed] = ran(runner, arm, command, seed)
        return known[arm.digest, seed]

    with patch.object(MetricRunner, "ran", once):
        yield


def judged(registry: Registry, folder: Path, rate: str) -> Candidate:
    """Propose another rate in a file of the skill, and measure it."""
    copy = folder / f"rate {rate}" / NAME
    (copy / "scripts").mkdir(parents=True)
    (copy / "SKILL.md").write_text(SKILL)
    (copy / "scripts" / "rate.txt").write_text(rate)
    name = rewritten(registry, copy, reason="faster", strategy="innovate")
    harness = harness_on_metric(load_metric(written(folder)), SandboxPolicy(), "key", workers=2, caps=RunCaps())
    rig = Rig(registry, harness, PRESETS["balanced"], seed=7)
    (candidate,) = try_out(rig, [name])
    return candidate


@dataclass
class Timed:
    """A skill of which one file is a number that the metric prints, and three changes of it, measured in turn."""

    registry: Registry
    lucky: Candidate
    broken: Candidate
    better: Candidate


@pytest.fixture(scope="module")
def timed(own_folder: Path) -> Iterator[Timed]:
    require_isolation()
    registry = new_registry(own_folder, TickingClock())
    imported(registry, own_folder, files={"scripts/rate.txt": "5"})
    with each_measured_once():
        lucky, broken, better = (judged(registry, own_folder, rate) for rate in ("005", "no number", "0"))
    yield Timed(registry, lucky, broken, better)
    registry.log.close()


def figures(candidate: Candidate) -> Rollouts:
    assert candidate.scored is not None
    assert candidate.scored.rollouts is not None
    return candidate.scored.rollouts


def test_a_better_number_in_twenty_pairs_promotes_one_file(timed: Timed) -> None:
    assert timed.better.verdict == "promote"
    rollouts = figures(timed.better)
    assert (rollouts.tasks, rollouts.no_skill) == (20, None)
    assert rollouts.difference == pytest.approx(0.5, abs=0.05)
    assert timed.better.version == timed.registry.capsule(NAME).version == 2
    (file,) = timed.registry.capsule(NAME).files
    assert timed.registry.log.get_blob(file.entry.blob) == b"0"
    frozen = next(envelope.event for envelope in timed.registry.log.read(types=("ComparisonFrozen",)))
    body = timed.registry.log.get_blob(getattr(frozen, "comparison"))  # noqa: B009 - one kind was asked for
    assert body is not None
    assert b"steering steering.md sha256:" in body


def test_a_lucky_number_is_not_kept(timed: Timed) -> None:
    assert figures(timed.lucky).low > 0  # its first twenty pairs are better by chance
    assert timed.lucky.verdict in {"reject", "hold"}
    assert timed.lucky.version is None


def test_a_command_that_fails_has_the_worst_value_and_is_no_lost_pair(timed: Timed) -> None:
    assert timed.broken.verdict == "reject"
    assert timed.broken.scored is not None
    assert figures(timed.broken).void == 0
    assert getattr(timed.broken.scored.after, "value") == 0.0  # noqa: B009 - it was measured


def test_the_incumbent_is_measured_anew_beside_each_candidate(timed: Timed) -> None:
    for candidate in (timed.lucky, timed.broken, timed.better):
        rollouts = figures(candidate)
        assert (rollouts.reused, rollouts.runs) == (0, 40 * rollouts.rounds)


@pytest.mark.parametrize(
    ("direction", "number", "value"),
    [("lower", 2.5, 0.75), ("higher", 2.5, 0.25), ("lower", -3, 1.0), ("higher", 99, 1.0), ("lower", 99, 0.0)],
)
def test_a_number_is_scaled_by_its_bounds_and_direction(direction: str, number: float, value: float) -> None:
    file = MetricFile.model_validate(
        {"name": "x", "command": ("x",), "direction": direction, "bounds": (0, 10), "steering": "s.md"}
    )
    assert file.scaled(number) == value
    assert (file.limit_s, file.repeats) == (300.0, 20)


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("loss 0.25", 0.25),
        ("1\n\n-2e3 ms\n", -2000.0),
        ("nothing", None),
        ("", None),
        ("nan", None),
        ("1e999", None),
    ],
)
def test_the_last_number_of_the_last_line_counts(line: str, number: float | None) -> None:
    assert printed(line) == number


@pytest.mark.parametrize(
    ("key", "line", "message"),
    [
        ("bounds", "bounds = [10.0, 0.0]", "the first is the least"),
        ("direction", 'direction = "up"', "direction"),
        ("limit_s", "limit_s = 20\nrepeats = 5", "greater than or equal to 20"),
        ("steering", 'steering = "gone.md"', "cannot read"),
        ("steering", "", "steering"),
        ("name", "name = ", "is no TOML"),
    ],
)
def test_a_metric_that_cannot_be_is_refused_with_its_place(
    tmp_path: Path, key: str, line: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        load_metric(written(tmp_path, **{key: line}))
