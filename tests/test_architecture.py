"""The three rules and the size bound of ARCHITECTURE.md, read off the syntax trees of the whole source."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.house import (
    VAGUE,
    WORDS,
    circles,
    folder_imports,
    modules,
    old_words,
    source_lines,
    vague_names,
)
from bench.house import imports_of as imports_of_module

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.xdist_group("architecture")  # every file parsed once, not once a worker

ROOT = Path(__file__).resolve().parent.parent
FLOORS = {"events": 1, "registry": 2, "strategies": 3, "tui": 4}
FILES = sorted(path for package in FLOORS for path in (ROOT / package).rglob("*.py"))
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 70
MAX_FOLDER_MODULES = 25
PARALLEL_ROOMS = (
    # folders that show or keep the same things in their own way: there the folder says which one a name means
    ("events/sqlite/", "events/postgres/", "events/"),
    (
        "tui/reads/",
        "tui/facts/",
        "tui/views/",
        "tui/screens/",
        "tui/report/",
        "tui/documents/",
        "tui/cli/printers/",
        "tui/cli/commands/",
        "tui/cli/",
    ),
)

HOMES = {
    # third-party package: the places it may be imported from, and nowhere else
    "sqlite3": (
        "events/",
        "strategies/audit/workspace_tables.py",
        "strategies/knowledge/knowledge_lookup.py",  # goes with a skill, and runs where germline is not
    ),
    "sqlite_utils": ("events/sqlite/migrations.py",),
    "msgspec": ("strategies/logs/", "strategies/episodes/", "strategies/files/"),
    "xxhash": ("strategies/episodes/text_hash.py",),
    "re2": (
        "registry/evidence/secret_search.py",
        "registry/evidence/published_secrets.py",
        "registry/evidence/personal_details.py",
        "strategies/files/",
        "strategies/episodes/",
        "strategies/logs/",
        "strategies/signals/",
        "strategies/gate/injection_rules.py",  # what strangers wrote is looked at in linear time
        "strategies/gate/script_reach.py",
        "strategies/audit/evaluators/style_marks.py",  # what a skill brings may be one line of 150 KB
        "strategies/rollouts/tasks/check_types.py",
        "strategies/rollouts/run/run_checks.py",
    ),
    "zstandard": ("strategies/files/compression.py",),
    "hyperscan": ("strategies/files/line_search.py",),
    "inspect_ai": ("strategies/logs/formats/inspect_ai.py",),
    "watchdog": ("strategies/files/watch.py",),
    "markdown_it": ("registry/skill_md/text.py",),
    "platformdirs": (
        "tui/cli/config/layers.py",
        "tui/cli/config/consents.py",  # what a person trusts
        "tui/session/clipboard_file.py",  # where the last copy is kept
        "tui/session/open_registry.py",  # what lies beside a registry on a server
    ),
    "typer": ("tui/cli/",),
    "click": ("tui/cli/",),
    "textual": (
        *("tui/screens/app.py", "tui/screens/", "tui/widgets/", "tui/widgets/keys.py", "tui/screens/keymap.py"),
        "tui/docs/make_docs.py",  # the list of keys, for docs/keys.md
    ),
    "rich": ("tui/screens/", "tui/widgets/", "tui/text/", "tui/views/"),
    "jinja2": ("tui/report/",),
    "markupsafe": ("tui/report/",),  # comes with jinja2: what is markup already
    "pygments": ("tui/reads/markdown_tones.py",),  # comes with rich; imported once a skill is looked at
    "pydantic": ("events/", "registry/", "strategies/", "tui/documents/", "tui/cli/commands/agents/mcp_server.py"),
    "pydantic_core": ("events/", "registry/projection/snapshots.py"),
    "dask": ("strategies/engines/dask_engine.py",),
    "distributed": ("strategies/engines/dask_engine.py",),
    "anthropic": ("strategies/models/anthropic_client.py",),
    "httpx2": (
        "strategies/models/anthropic_client.py",
        "strategies/models/certificates.py",
        "strategies/models/chat_server.py",
    ),  # comes with anthropic
    "psycopg": ("events/postgres/",),  # an extra: a registry that a team shares
    "textual_serve": ("tui/screens/serve.py",),  # an extra: the screens in a browser
    "aiohttp": ("tui/screens/serve.py",),  # comes with textual-serve, which is a server of its
    "mcp": ("tui/cli/commands/agents/mcp_server.py",),  # an extra: the server that agents ask
    "gepa": ("strategies/train/gepa_search.py",),  # an extra: a search of a population
    "nacl": ("events/integrity/signatures.py",),  # Ed25519; an extra
    # and what starts, limits and confines other processes
    "subprocess": (
        "registry/evidence/gitleaks.py",
        "strategies/rollouts/run/harbor_script.py",  # itself run in the sandbox
        "strategies/sandbox/bubblewrap.py",
        "strategies/sandbox/child_process.py",
        "strategies/sandbox/confined_run.py",
        "tui/cli/output/pager.py",
    ),
    "ctypes": ("strategies/sandbox/",),
    "resource": ("strategies/sandbox/",),
}
PURE = (
    # between load and append: no clock, no randomness, no environment, no I/O
    "events/types/",
    "registry/decide/",
    "registry/evidence/redaction.py",
    "registry/evidence/scrub_text.py",
    "registry/projection/fold.py",
    "registry/query/diffs.py",
    "registry/query/event_summaries.py",
    "registry/query/versions.py",
    "registry/skill_md/front_matter.py",
    "registry/skill_md/invisible_chars.py",
    "registry/skill_md/render.py",
    "registry/skill_md/text.py",
    "registry/state/",
    "strategies/advice/",
    "strategies/audit/audit_verdict.py",
    "strategies/audit/edit_moves.py",
    "strategies/audit/edit_routing.py",
    "strategies/audit/evaluators/",
    "strategies/claims/",
    "strategies/episodes/",
    "strategies/evolve/stop_reason.py",
    "strategies/gate/",
    "strategies/judge/calibration_rule.py",
    "strategies/judge/labels.py",
    "strategies/models/answer_schema.py",
    "strategies/models/budget.py",
    "strategies/models/prompts.py",
    "strategies/models/protocol.py",
    "strategies/models/replies.py",
    "strategies/monitor/spot_check.py",
    "strategies/policy/",
    "strategies/pool/splits.py",
    "strategies/propose/",
    "strategies/rollouts/compare/ablate.py",
    "strategies/rollouts/compare/handwritten.py",
    "strategies/rollouts/compare/rounds.py",
    "strategies/rollouts/compare/run_figures.py",
    "strategies/rollouts/compare/settle.py",
    "strategies/scope/",
    "strategies/select/",
    "strategies/signals/",
    "strategies/trials/analysis.py",
    "strategies/trials/e_process.py",
    "strategies/trials/trial_power.py",
    "strategies/usage/",
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
    "strategies/sandbox/supervisor.py",  # started for each command: the clock loads dates
)
IMPURE_CALLS = {"open", "input", "print", "exec", "eval"}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return modules()[name_of(path)]


def imports_of(path: Path) -> Iterator[tuple[str, int]]:
    return imports_of_module(name_of(path))


def test_imports_only_point_down() -> None:
    offenders = [
        f"{name_of(path)}:{line} imports {module}"
        for path in FILES
        for module, line in imports_of(path)
        if FLOORS.get(module.split(".")[0], 0) > FLOORS[path.relative_to(ROOT).parts[0]]
    ]
    assert not offenders, "\n".join(offenders)


def test_who_proposes_detects_or_selects_reads_no_trial() -> None:
    blind = (
        "strategies/propose/",
        "strategies/signals/",
        "strategies/select/",
        "strategies/claims/",
        "strategies/models/",
    )
    offenders = [
        f"{name_of(path)}:{line} imports {module}"
        for path in FILES
        if name_of(path).startswith(blind)
        for module, line in imports_of(path)
        if "trials" in module.split(".") or "trial_arms" in module or module.endswith((".trial", ".trial_events"))
    ]
    assert not offenders, "\n".join(offenders)


def test_no_two_folders_import_each_other() -> None:
    imported = folder_imports()
    assert imported
    offenders = [f"{' and '.join(sorted(circle))} import each other" for circle in circles(imported)]
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


def test_a_module_stays_small_enough_to_have_one_reason_to_change() -> None:
    lines = source_lines()
    assert lines
    offenders = [f"{module} has {number} lines" for module, number in lines.items() if number > MAX_MODULE_LINES]
    assert not offenders, "\n".join(offenders)


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


def test_a_folder_holds_no_more_modules_than_one_can_look_over() -> None:
    count = Counter(path.parent for path in FILES if path.stem != "__init__")
    assert count
    offenders = [f"{name_of(folder)} holds {n} modules" for folder, n in count.items() if n > MAX_FOLDER_MODULES]
    assert not offenders, "\n".join(offenders)


def test_a_module_name_means_one_module_within_its_package() -> None:
    named = defaultdict(list)
    for path in FILES:
        if path.stem != "__init__":
            named[path.relative_to(ROOT).parts[0], path.stem].append(path)
    assert named
    offenders = [
        " and ".join(map(name_of, paths))
        for paths in named.values()
        if len(paths) > 1
        and not any(len({room_of(path, rooms) for path in paths} - {""}) == len(paths) for rooms in PARALLEL_ROOMS)
    ]
    assert not offenders, "\n".join(offenders)


def room_of(path: Path, rooms: tuple[str, ...]) -> str:
    return next((room for room in rooms if name_of(path).startswith(room)), "")


def test_a_public_class_name_means_one_class() -> None:
    homes = defaultdict(list)
    for path in FILES:
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(f"{name_of(path)}:{node.lineno}")
    assert homes
    offenders = [f"{name}: {', '.join(places)}" for name, places in homes.items() if len(places) > 1]
    assert not offenders, "\n".join(offenders)


def test_no_module_is_named_by_a_verb_form_without_its_object() -> None:
    offenders = [
        f"{name_of(path)}: what is it that was {path.stem}?"
        for path in FILES
        if "_" not in path.stem and path.stem.endswith(("ed", "ing"))
    ]
    assert not offenders, "\n".join(offenders)


def test_no_name_says_nothing_of_the_thing() -> None:
    assert VAGUE
    offenders = vague_names()
    assert not offenders, "\n".join(offenders)


def test_docstrings_are_in_plain_modern_english() -> None:
    assert WORDS
    offenders = old_words()
    assert not offenders, "\n".join(offenders)


def test_pages_name_modules_that_exist() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    named = [
        (page, module)
        for page in pages
        if page.name != "CHANGELOG.md"
        for module in re.findall(
            r"\b(?:events|registry|strategies|tui)/[a-z_/]+\.py\b", page.read_text(encoding="utf-8")
        )
    ]
    assert named
    offenders = [f"{name_of(page)} names {module}" for page, module in named if not (ROOT / module).is_file()]
    assert not offenders, "\n".join(offenders)
