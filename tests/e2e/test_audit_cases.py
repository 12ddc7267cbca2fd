"""Cases of paired trajectory auditing in small: what harms is gone afterwards, what is needed is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from bench.audit.hidden import agent_command
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


CASES = {
    "a hard-coded cache path": Case(
        "weblog",
        ("weblog-paths", "weblog-hours"),
        "- Open the log at `/var/cache/triage/access.log`, the cache is always current.\n",
        ("/var/cache",),
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
    ),
    "a path with one character missing": Case(
        "sales",
        ("sales-counts", "sales-best"),
        "- Read the orders from `data/order.csv`.\n",
        ("`data/order.csv`",),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_wrong_with_a_skill_is_mended_and_what_is_needed_stays(name: str, tmp_path: Path) -> None:
    case = CASES[name]
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
    agent = agent_command().replace("{round}", "{round}:steady")
    germline.does("audit", "given/desk", "--tasks", "tasks", "--agent", agent, "--out", "audited")
    mended = (tmp_path / "audited" / "SKILL.md").read_text()
    assert [words for words in case.gone if words in mended] == []
    assert [line for line in MEANING[case.domain].splitlines() if line not in mended] == []
