"""The metric harness: a command that prints a number, run side by side, twenty times and more."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from events.errors import UsageError
from strategies.handwritten import propose_rewrite
from strategies.presets import PRESETS
from strategies.rollouts.comparison import Rig
from strategies.rollouts.judging import try_out
from strategies.rollouts.metric import MetricFile, harness_on_metric, load_metric, printed
from strategies.rollouts.running import Caps
from strategies.rollouts.sandbox import SandboxPolicy
from tests.confining import require_isolation
from tests.registries import NAME, SKILL

if TYPE_CHECKING:
    from pathlib import Path

    from registry.candidate import Candidate
    from registry.registry import Registry

FILE = """
name = "seconds"
command = ["{python}", "-I", "-S", "measure.py", "{{skill_dir}}/scripts/rate.txt", "{{seed}}"]
direction = "lower"
bounds = [0.0, 10.0]
steering = "steering.md"
files = ["measure.py"]
limit_s = 20
"""
MEASURE = """import hashlib, sys
text = open(sys.argv[1]).read()
noise = hashlib.sha256(f"{text} {sys.argv[2]}".encode()).digest()[0] / 256
print(f"warming up\\n{float(text) + noise:.3f} s")
"""


def written(folder: Path, **changes: str) -> Path:
    """Write a metric file with what it names."""
    text = FILE.format(python=sys.executable)
    for old, new in changes.items():
        text = "\n".join(new if line.startswith(old) else line for line in text.splitlines())
    (folder / "metric.toml").write_text(text)
    (folder / "measure.py").write_text(MEASURE)
    (folder / "steering.md").write_text("Make it faster; keep the answers.\n")
    return folder / "metric.toml"


def judged(registry: Registry, folder: Path, rate: str) -> Candidate:
    """Propose another rate in a file of the skill, and measure it."""
    copy = folder / "copy" / NAME
    (copy / "scripts").mkdir(parents=True)
    (copy / "SKILL.md").write_text(SKILL)
    (copy / "scripts" / "rate.txt").write_text(rate)
    receipt = propose_rewrite(
        registry, NAME, copy, reason="faster", strategy="innovate", preset=PRESETS["balanced"]
    )
    harness = harness_on_metric(load_metric(written(folder)), SandboxPolicy(), "key", workers=2, caps=Caps())
    rig = Rig(registry, harness, PRESETS["balanced"], seed=7)
    name = receipt.envelopes[0].stream.removeprefix("candidate:")
    (candidate,) = try_out(rig, [name])
    return candidate


@pytest.fixture
def timed(registry: Registry, tmp_path: Path) -> Registry:
    """Give a registry with a skill of which one file is a number that the metric prints."""
    from tests.registries import imported

    require_isolation()
    imported(registry, tmp_path, files={"scripts/rate.txt": "5"})
    return registry


def test_a_better_number_in_twenty_pairs_promotes_one_file(timed: Registry, tmp_path: Path) -> None:
    candidate = judged(timed, tmp_path, "2")
    assert candidate.verdict == "promote"
    assert candidate.scored is not None
    rollouts = candidate.scored.rollouts
    assert rollouts is not None
    assert (rollouts.tasks, rollouts.no_skill) == (20, None)
    assert rollouts.difference == pytest.approx(0.3, abs=0.05)
    assert [file.entry.size_bytes for file in timed.capsule(NAME).files] == [1]
    frozen = next(one.event for one in timed.log.read(types=("ComparisonFrozen",)))
    body = timed.log.get_blob(getattr(frozen, "comparison"))  # noqa: B009 - one kind was asked for
    assert body is not None
    assert b"steering steering.md sha256:" in body


def test_a_lucky_number_is_not_kept(timed: Registry, tmp_path: Path) -> None:
    candidate = judged(timed, tmp_path, "5.0000")  # its first twenty pairs are better by chance, by .01 on average
    assert candidate.verdict in {"reject", "hold"}
    assert timed.capsule(NAME).version == 1


def test_a_command_that_fails_has_the_worst_value_and_is_no_lost_pair(timed: Registry, tmp_path: Path) -> None:
    candidate = judged(timed, tmp_path, "no number")
    assert candidate.verdict == "reject"
    assert candidate.scored is not None
    assert candidate.scored.rollouts is not None
    assert candidate.scored.rollouts.void == 0
    assert getattr(candidate.scored.after, "value") == 0.0  # noqa: B009 - it was measured


def test_the_incumbent_is_measured_anew_beside_each_candidate(timed: Registry, tmp_path: Path) -> None:
    first = judged(timed, tmp_path, "6")
    assert first.scored is not None
    assert first.scored.rollouts is not None
    runs = first.scored.rollouts
    assert (runs.reused, runs.runs) == (0, 40 * runs.rounds)


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
    ("key", "line", "said"),
    [
        ("bounds", "bounds = [10.0, 0.0]", "the first is the least"),
        ("direction", 'direction = "up"', "direction"),
        ("limit_s", "limit_s = 20\nrepeats = 5", "greater than or equal to 20"),
        ("steering", 'steering = "gone.md"', "cannot read"),
        ("steering", "", "steering"),
        ("name", "name = ", "is no TOML"),
    ],
)
def test_a_metric_that_cannot_be_is_refused_with_its_place(tmp_path: Path, key: str, line: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        load_metric(written(tmp_path, **{key: line}))
