"""What `germline audit` makes of skills with planted passages, by graders that no audit sees.

    python -m bench.audit [SKILL …] [--wrong 0 .1 .3] [--rounds 8] [--pairs 4] [--aside]
    python -m bench.audit --placebo 100 [--searched]

For each skill the hidden pass rate without any, with the given one, and after an audit: with the computed
evaluators alone, and with a stub model over HTTP that errs in a stated share of its answers. `lost` counts
load-bearing passages that are gone, `left` harmful ones that are still there, `bad` lines that a wrong answer
brought. The placebo is a skill that changes nothing: how many audits call an edit of it helped? With
`--searched` each audit also searches it for what harms, as if all tasks were hurt: how many find something?
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import tempfile
import time
from contextlib import chdir, nullcontext, redirect_stdout
from contextvars import copy_context
from pathlib import Path
from shutil import copytree
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from unittest.mock import patch

from bench.audit.aside.aside_worlds import aside_skills
from bench.audit.hidden import agent_command, hidden_tasks, pass_rate, run_in_process
from bench.audit.planted import PLACEBO, SKILLS
from bench.audit.stub_reviewer import WRONG_ADVICE, StubReviewer
from examples.audit.tasks import write_tasks
from strategies.audit.evaluators.line_rewrites import REMOVE
from tests.anthropic_stub import KEY, AnthropicStub
from tui.cli.main import main as germline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.audit.planted import PlantedSkill
    from strategies.rollouts.tasks.task import RolloutTask

COMPUTED: Final = None
"""The share of wrong answers of an audit that asks no model."""


_UNCAPPED: Final = {"cap_usd_per_cycle": 10_000.0, "cap_usd_per_day": 10_000.0}


class Audited(NamedTuple):
    """What an audit came to: the folder of the skill after it, its document, and how long it took."""

    folder: Path
    document: dict[str, Any]
    seconds: float

    @property
    def text(self) -> str:
        """The SKILL.md after it."""
        return (self.folder / "SKILL.md").read_text(encoding="utf-8")

    @property
    def called_helped(self) -> bool:
        """Whether an edit was kept and the draft with it called helped."""
        (audit,) = self.document["audits"]
        return any(
            draft["kept"] and draft["iteration"] and draft["result"] == "helped" for draft in audit["drafts"]
        )

    @property
    def found_harm(self) -> bool:
        """Whether a search by runs took something away."""
        (audit,) = self.document["audits"]
        moves = [move for draft in audit["drafts"] for move in draft["moves"]]
        return any(move["evaluator"] == "incremental-value" and move["move"] == REMOVE for move in moves)


def audited(
    planted: PlantedSkill, tasks: Path, place: Path, *, salt: str, options: Sequence[str], stub: str = ""
) -> Audited:
    """Audit a skill as a draft, in a project of its own; `stub` is the settings of a model, "" for none."""
    skill = planted.name
    folder = place / skill
    copytree(planted.place, place / "given" / skill)
    (place / "germline.toml").write_text(stub, encoding="utf-8")
    began = time.perf_counter()
    agent = agent_command(planted.agent).replace("{round}", f"{{round}}{salt}")
    words = ["audit", f"given/{skill}", "--tasks", str(tasks), "--agent", agent, "--out", str(folder), *options]
    with chdir(place), patch.dict(os.environ, {"ANTHROPIC_API_KEY": KEY}):
        _answer("init")
        document = _answer("--trust-project", *words, "--json")
    return Audited(folder, document, time.perf_counter() - began)


def _answer(*words: str) -> dict[str, Any]:
    out = io.StringIO()
    with redirect_stdout(out):
        code = copy_context().run(germline, list(words))  # what it sets for its command stays with it
    if code:
        sys.exit(code)
    text = out.getvalue()
    return json.loads(text) if text.startswith("{") else {}


class Row(NamedTuple):
    """What became of one skill: hidden pass rates, passages lost, harmful left, and bad advice brought."""

    none: float
    given: float
    after: float
    lost: int
    left: int
    bad: int
    seconds: float


def measured(
    planted: PlantedSkill,
    hidden: Sequence[RolloutTask],
    rates: tuple[float, float],
    done: Audited,
    rounds: Sequence[int],
) -> Row:
    """Grade what an audit left."""
    return Row(
        *rates,
        pass_rate(planted.agent, hidden, done.folder, rounds),
        len(planted.lost(done.text)),
        len(planted.left(done.text)),
        sum(line.lstrip("- ") in done.text for line in WRONG_ADVICE),
        done.seconds,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    fresh = aside_skills()
    known = {**SKILLS, **fresh}
    parser.add_argument("skills", nargs="*", metavar="SKILL", help=f"of {', '.join(known)}")
    parser.add_argument("--wrong", type=float, nargs="*", default=[0.0, 0.1, 0.3])
    parser.add_argument("--rounds", type=int, default=8, help="of each task, for the hidden graders")
    parser.add_argument("--pairs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--aside", action="store_true", help="also what was kept aside in the example")
    parser.add_argument("--fresh", action="store_true", help="the skills of bench/audit/aside")
    parser.add_argument("--placebo", type=int, default=0, metavar="AUDITS")
    parser.add_argument("--searched", action="store_true", help="search the placebo for what harms")
    asked = parser.parse_args(arguments)
    if unknown := sorted({*asked.skills} - known.keys()):
        parser.error(f"there is no skill {unknown[0]}; there are {', '.join(known)}")
    options = ["--pairs", str(asked.pairs), "--workers", "1" if asked.placebo else "2"]
    with tempfile.TemporaryDirectory(prefix="germline-bench-audit-") as folder:
        if asked.placebo:
            placebo(Path(folder), asked.placebo, options, asked.seed, searched=asked.searched)
        else:
            named = [known[name] for name in asked.skills] or list(fresh.values()) * asked.fresh
            skills = named or [skill for skill in SKILLS.values() if asked.aside or not skill.aside]
            table(Path(folder), skills, [COMPUTED, *asked.wrong], range(asked.rounds), options, asked.seed)


def table(
    folder: Path,
    skills: Sequence[PlantedSkill],
    shares: Sequence[float | None],
    rounds: Sequence[int],
    options: Sequence[str],
    seed: int,
) -> None:
    """Audit each skill with each reviewer, and print what became of it."""
    print(
        f"{'skill':<15}{'reviewer':<12}{'none':>7}{'given':>7}{'after':>7}{'lost':>6}{'left':>6}{'bad':>5}{'s':>6}"
    )
    rows: dict[float | None, list[Row]] = {}
    graded: dict[str, tuple[list[RolloutTask], float]] = {}
    for planted in skills:
        tasks = folder / f"tasks-{planted.domain}"
        if planted.domain not in graded:
            hidden = hidden_tasks(tasks, planted)
            graded[planted.domain] = hidden, pass_rate(planted.agent, hidden, None, rounds)
        hidden, bare = graded[planted.domain]
        rates = (bare, pass_rate(planted.agent, hidden, planted.place, rounds))
        for share in shares:
            place = Path(tempfile.mkdtemp(dir=folder))
            done = reviewed(planted, tasks, place, share, options, seed)
            row = measured(planted, hidden, rates, done, rounds)
            rows.setdefault(share, []).append(row)
            print_row(planted.name, share, row)
    for share, made in rows.items():
        none, given, after = (fmean(rate) for rate in zip(*(row[:3] for row in made), strict=True))
        lost, left, bad = (sum(number) for number in zip(*(row[3:6] for row in made), strict=True))
        print_row("all", share, Row(none, given, after, lost, left, bad, sum(row.seconds for row in made)))


def reviewed(
    planted: PlantedSkill, tasks: Path, place: Path, share: float | None, options: Sequence[str], seed: int
) -> Audited:
    """Audit with the computed evaluators alone, or beside a stub that errs in this share of its answers."""
    salt = f":{seed}"
    if share is None:
        return audited(planted, tasks, place, salt=salt, options=options)
    reviewer = StubReviewer(share, seed)
    with AnthropicStub() as stub:
        stub.script("judge", reviewer.answer)
        return audited(planted, tasks, place, salt=salt, options=options, stub=stub.toml(**_UNCAPPED))


def print_row(name: str, share: float | None, row: Row) -> None:
    """Print a row of the table."""
    who = "computed" if share is None else f"{share:.0%} wrong"
    rates = "".join(f"{rate:>7.3f}" for rate in row[:3])
    print(f"{name:<15}{who:<12}{rates}{row.lost:>6}{row.left:>6}{row.bad:>5}{row.seconds:>6.0f}", flush=True)


def placebo(folder: Path, audits: int, options: Sequence[str], seed: int, *, searched: bool) -> None:
    """Audit a skill that changes nothing again and again, each time with other luck."""
    tasks = folder / "tasks"
    names = tuple(task.id for task in write_tasks(tasks, "sales"))
    as_hurt = patch("strategies.audit.audit_skill.hurt_tasks", lambda _: names) if searched else nullcontext()
    helped = changed = harmful = 0
    began = time.perf_counter()
    given = (PLACEBO.place / "SKILL.md").read_text(encoding="utf-8")
    for number in range(audits):
        with patch("strategies.rollouts.run.trial.run", run_in_process), as_hurt:
            done = audited(PLACEBO, tasks, folder / f"audit-{number}", salt=f":{seed}:{number}", options=options)
        helped += done.called_helped
        changed += done.text != given
        harmful += done.found_harm
        seen = f"the text changed in {changed}, harm found in {harmful}"
        print(f"{number + 1:>4} audits: an edit called helped in {helped}, {seen}", flush=True)
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
