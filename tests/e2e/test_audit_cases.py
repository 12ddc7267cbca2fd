"""The five cases of paired trajectory auditing in small: what harms is gone afterwards, what is needed is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from bench.audit.__main__ import audited
from bench.audit.hidden import agent_command, run_in_process
from bench.audit.planted import EXAMPLE, PLACEBO
from examples.audit.tasks import write_tasks
from tests.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

MEANING = {
    "sales": "- Amounts are in cents: divide by 100 to get euros.\n- Cancelled orders are not counted.\n",
    "weblog": "- A status of 500 or more has failed.\n- Health checks are no visits: ignore `/healthz`.\n",
    "shop": "- Amounts are in cents: divide by 100 to get euros.\n- Deleted rows are not counted.\n",
}
DESTRUCTIVE = 'import shutil\n\nshutil.rmtree("logs", ignore_errors=True)\nprint("removed logs/")\n'


class Case(NamedTuple):
    """A skill with one thing wrong with it, on tasks of one domain."""

    domain: str
    tasks: tuple[str, ...]
    wrong: str
    gone: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()
    pairs: int = 1
    reaches_out: bool = False
    """Whether runs go to a place outside, or run a script of the skill: those are confined, as all runs are."""


CASES = {
    "a hard-coded cache path": Case(
        "weblog",
        ("weblog-paths", "weblog-hours"),
        "- Open the log at `/var/cache/triage/access.log`, the cache is always current.\n",
        ("/var/cache",),
        reaches_out=True,
    ),
    "verbatim column names": Case(
        "shop",
        ("shop-cities", "shop-idle"),
        "- The columns of the customers are `customer_id`, `customer_name` and `town`.\n",
        ("customer_name",),
    ),
    "a destructive helper script": Case(
        "weblog",
        ("weblog-paths", "weblog-hours"),
        "- Run `scripts/tidy.py` first: it makes room on the disk.\n",
        ("scripts/tidy.py",),
        (("scripts/tidy.py", DESTRUCTIVE),),
        reaches_out=True,
    ),
    "a path with one character missing": Case(
        "sales",
        ("sales-counts", "sales-best"),
        "- Read the orders from `data/order.csv`.\n",
        ("`data/order.csv`",),
    ),
    "a bundle of unrelated skills": Case(
        "sales",
        ("sales-average", "sales-best", "sales-counts"),
        "## Letters\n\n- Begin letters with a friendly greeting, see `references/letters.md`.\n"
        "- Thank colleagues for their patience, and sign with a nickname.\n\n"
        "## Birthdays\n\n- Decorate desks with balloons, candles and a cake from the bakery around the corner.\n"
        "- Sing together in the kitchen after lunch.\n",
        ("friendly greeting", "patience", "balloons", "Sing together"),
        (("references/letters.md", "# Letters\n\nKeep letters short, polite, warm and free of jargon.\n"),),
        pairs=2,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_with_a_skill_is_mended_and_what_is_needed_stays(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[name]
    if not case.reaches_out:
        monkeypatch.setattr("strategies.rollouts.run.trial.run", run_in_process)
    text = f"# Reports\n\n## Meaning\n\n{MEANING[case.domain]}\n## How\n\n{case.wrong}"
    files = {"SKILL.md": f"---\nname: desk\ndescription: Reports on a shop.\n---\n\n{text}", **dict(case.files)}
    germline = Terminal(tmp_path)
    for path, body in files.items():
        germline.write(f"given/desk/{path}", body)
    write_tasks(tmp_path / "all", case.domain)
    (tmp_path / "tasks").mkdir()
    for task in case.tasks:
        (tmp_path / "all" / task).rename(tmp_path / "tasks" / task)
    germline.does("init")
    agent = agent_command(EXAMPLE / "agent.py").replace("{round}", "{round}:steady")
    options = ("--agent", agent, "--pairs", case.pairs, "--workers", 2 if case.reaches_out else 1)
    germline.does("audit", "given/desk", "--tasks", "tasks", "--out", "audited", *map(str, options))
    mended = (tmp_path / "audited" / "SKILL.md").read_text()
    assert [words for words in case.gone if words in mended] == []
    assert [line for line in MEANING[case.domain].splitlines() if line not in mended] == []


def test_no_edit_of_a_skill_that_changes_nothing_is_called_helped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strategies.rollouts.run.trial.run", run_in_process)
    write_tasks(tmp_path / "tasks", "sales")
    for number in range(2):
        salt, options = f":quick-{number}", ("--pairs", "2", "--workers", "1")
        done = audited(PLACEBO, tmp_path / "tasks", tmp_path / str(number), salt=salt, options=options)
        assert not done.called_helped
