"""The three rules and the size bound of ARCHITECTURE.md, read off the syntax trees of the whole source."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.xdist_group("architecture")  # every file parsed once, not once a worker

ROOT = Path(__file__).resolve().parent.parent
FLOORS = {"events": 1, "registry": 2, "strategies": 3, "tui": 4}
FILES = sorted(path for package in FLOORS for path in (ROOT / package).rglob("*.py"))
MAX_MODULE_LINES = 300
MAX_FUNCTION_LINES = 70

HOMES = {
    # third-party package: the places it may be imported from, and nowhere else
    "sqlite3": ("events/",),
    "sqlite_utils": ("events/migrations.py",),
    "msgspec": ("strategies/logs/",),
    "xxhash": ("strategies/logs/keys.py",),
    "re2": (
        "strategies/logs/",
        "strategies/signals/",
        "strategies/rollouts/checks.py",
        "strategies/rollouts/anchors.py",
    ),
    "zstandard": ("strategies/logs/compressed.py",),
    "hyperscan": ("strategies/logs/line_search.py",),
    "inspect_ai": ("strategies/logs/inspect_eval.py",),
    "watchdog": ("strategies/logs/watch.py",),
    "markdown_it": ("registry/skill_text.py",),
    "platformdirs": (
        "tui/cli/layers.py",
        "tui/copying.py",  # where the last copy is kept
        "tui/bootstrap.py",  # what lies beside a registry on a server
    ),
    "typer": ("tui/cli/",),
    "click": ("tui/cli/",),
    "textual": (
        *("tui/app.py", "tui/screens/", "tui/widgets/", "tui/keys.py", "tui/remapping.py"),
        "tui/documented.py",  # the list of keys, for docs/keys.md
    ),
    "rich": ("tui/app.py", "tui/screens/", "tui/widgets/", "tui/views/"),
    "pygments": ("tui/views/markdown.py",),  # comes with rich; imported once a skill is looked at
    "pydantic": ("events/", "registry/", "strategies/"),
    "pydantic_core": ("events/", "registry/snapshots.py"),
    "dask": ("strategies/dask_engine.py",),
    "distributed": ("strategies/dask_engine.py",),
    "anthropic": ("strategies/models/claude_client.py",),
    "httpx2": ("strategies/models/claude_client.py",),  # comes with anthropic, whose causes are its errors
    "psycopg": ("events/postgres_",),  # an extra: a registry that a team shares
    "textual_serve": ("tui/serving.py",),  # an extra: the screens in a browser
    "aiohttp": ("tui/serving.py",),  # comes with textual-serve, which is a server of its
    "nacl": ("events/signing.py",),  # Ed25519; an extra
    # and what starts, limits and confines other processes
    "subprocess": ("registry/gitleaks.py", "strategies/rollouts/sandbox.py", "tui/cli/paging.py"),
    "ctypes": ("strategies/rollouts/confine/",),
    "resource": ("strategies/rollouts/confine/",),
}
PURE = (
    # between load and append: no clock, no randomness, no environment, no I/O
    "registry/adopt.py",
    "registry/apply.py",
    "registry/births.py",
    "registry/candidate.py",
    "registry/capsule.py",
    "registry/changing.py",
    "registry/claimed.py",
    "registry/decide.py",
    "registry/diffs.py",
    "registry/edits.py",
    "registry/front_matter.py",
    "registry/gene.py",
    "registry/hidden.py",
    "registry/importing.py",
    "registry/line.py",
    "registry/matching.py",
    "registry/offering.py",
    "registry/outline.py",
    "registry/promote.py",
    "registry/redaction.py",
    "registry/rendering.py",
    "registry/revert.py",
    "registry/review.py",
    "registry/sheet.py",
    "registry/skill_text.py",
    "registry/summaries.py",
    "registry/versions.py",
    "strategies/advice.py",
    "strategies/answering.py",
    "strategies/auto.py",
    "strategies/claims/",
    "strategies/failing.py",
    "strategies/gate/",
    "strategies/handwritten.py",
    "strategies/labels.py",
    "strategies/models/answer_schema.py",
    "strategies/models/asking.py",
    "strategies/models/budget.py",
    "strategies/models/prompts.py",
    "strategies/models/replies.py",
    "strategies/models/scrubbing.py",
    "strategies/preset_files.py",
    "strategies/presets.py",
    "strategies/proposers/",
    "strategies/rollouts/bundles.py",
    "strategies/rollouts/contest.py",
    "strategies/rollouts/figures.py",
    "strategies/rollouts/settling.py",
    "strategies/second_look.py",
    "strategies/select.py",
    "strategies/signals/",
    "strategies/stopping.py",
    "tui/views/",
)
IMPURE_MODULES = {
    "os",
    "time",
    "random",
    "secrets",
    "uuid",
    "socket",
    "subprocess",
    "pathlib",
    "io",
    "tempfile",
    "shutil",
    "events.clock",
}
KEEPERS_OF_TIME = (
    "events/clock.py",
    "strategies/rollouts/confine/supervisor.py",  # started for each command: the clock loads dates
)
IMPURE_CALLS = {"open", "input", "print", "exec", "eval"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imports_of(path: Path) -> Iterator[tuple[str, int]]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def test_imports_only_point_down() -> None:
    offenders = [
        f"{name_of(path)}:{line} imports {module}"
        for path in FILES
        for module, line in imports_of(path)
        if FLOORS.get(module.split(".")[0], 0) > FLOORS[path.relative_to(ROOT).parts[0]]
    ]
    assert not offenders, "\n".join(offenders)


def test_every_third_party_package_has_a_home_and_stays_there() -> None:
    known = set(sys.stdlib_module_names) | set(FLOORS) | {"__future__"}
    offenders = []
    for path in FILES:
        for module, line in imports_of(path):
            top = module.split(".")[0]
            homes = HOMES.get(top)
            if homes is None and top not in known:
                offenders.append(f"{name_of(path)}:{line} imports {top}, which has no home in HOMES")
            elif homes is not None and not name_of(path).startswith(homes):
                offenders.append(f"{name_of(path)}:{line} imports {top}, whose home is {', '.join(homes)}")
    assert not offenders, "\n".join(offenders)


def test_time_randomness_and_identity_come_from_the_clock_alone() -> None:
    offenders = []
    for path in FILES:
        if name_of(path) in KEEPERS_OF_TIME or name_of(path).startswith("tui/"):
            continue
        offenders += [
            f"{name_of(path)}:{line} imports {module}"
            for module, line in imports_of(path)
            if module.split(".")[0] in {"time", "secrets", "uuid"}
        ]
        offenders += [
            f"{name_of(path)}:{node.lineno} asks datetime for the time"  # reading the times of a log is fine
            for node in nodes_of(path)
            if isinstance(node, ast.Attribute)
            and node.attr in {"now", "utcnow", "today"}
            and isinstance(node.value, ast.Name)
            and node.value.id in {"datetime", "date"}
        ]
    assert not offenders, "\n".join(offenders)


def test_between_load_and_append_there_are_only_pure_functions() -> None:
    offenders = []
    for path in FILES:
        if not name_of(path).startswith(PURE):
            continue
        offenders += [
            f"{name_of(path)}:{line} imports {module}"
            for module, line in imports_of(path)
            if (module in IMPURE_MODULES or module.split(".")[0] in IMPURE_MODULES)
            and not in_type_checking(path, line)
            and not (module.split(".")[0] == "random" and seeded_only(path))
        ]
        offenders += [
            f"{name_of(path)}:{node.lineno} calls {node.func.id}"
            for node in nodes_of(path)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS
        ]
    assert not offenders, "\n".join(offenders)


def in_type_checking(path: Path, line: int) -> bool:
    return any(
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
        and node.lineno <= line <= (node.end_lineno or node.lineno)
        for node in nodes_of(path)
    )


def seeded_only(path: Path) -> bool:
    """Tell whether `random` serves for seeded generators alone: Random(seed), never the module's own state."""
    own_state = [
        node
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "random"
        and node.attr != "Random"
    ]
    generators = [node for node in nodes_of(path) if is_generator(node)]
    return not own_state and all(isinstance(node, ast.Call) and node.args for node in generators)


def is_generator(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name == "Random"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_module_stays_small_enough_to_have_one_reason_to_change(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_MODULE_LINES


def test_a_function_stays_under_seventy_lines() -> None:
    offenders = [
        f"{name_of(path)}:{node.lineno} {node.name} has {(node.end_lineno or 0) - node.lineno + 1} lines"
        for path in FILES
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > MAX_FUNCTION_LINES
    ]
    assert not offenders, "\n".join(offenders)


def test_names_say_what_a_thing_is() -> None:
    vague = {"utils", "util", "helpers", "helper", "manager", "managers", "data", "misc", "common"}
    offenders = [name_of(path) for path in FILES if vague & set(path.stem.split("_"))]
    assert not offenders, offenders
