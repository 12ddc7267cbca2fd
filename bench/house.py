"""How the house is kept: folders, circles, names, twins, and what one turn of evolution and one key enter.

Prints every measure of the house that can be counted, beside what it was on 2026-11-22 and what is to be reached.
Counting takes a few seconds; `--run` also evolves the demo's skill in this process and presses a key on the Why
screen, which takes half a minute.

Sources only, read as syntax trees: a circle is a set of folders each of which imports the next, imports for type
checkers included; a verb form is a module of one word that ends in -ed or -ing; a class or function counts as
public where its name has no underscore in front. The functions that one evolve enters were 723 in 158 files by the
count of 2026-11-22, which left out the command line; the figure here is by this script, on the same tree.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import gc
import os
import re
import sqlite3
import sys
import threading
from collections import Counter, defaultdict
from contextlib import chdir, redirect_stdout
from functools import cache
from inspect import CO_OPTIMIZED
from io import StringIO
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGES: Final = ("events", "registry", "strategies", "tui")
TINY_LINES: Final = 50
OPENED_S, SETTLED_S, LINES = 3.0, 0.4, 25
WORDS: Final = frozenset({"whoever", "anew", "told", "said", "stands", "begot", "whereto"})
VAGUE: Final = frozenset({"one", "found", "said", "told"})


class Measure(NamedTuple):
    """A row of the table; `before` and `wanted` in the words of the agreement, "" where it says nothing."""

    name: str
    before: str
    now: str
    wanted: str


@cache
def modules() -> dict[str, tuple[ast.AST, ...]]:
    """Parse every module of the product into the nodes of its tree, by its path from the root."""
    paths = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    gc.disable()  # a million nodes, and none is garbage
    trees = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    nodes = {module: tuple(ast.walk(tree)) for module, tree in trees.items()}
    gc.freeze()
    gc.enable()
    return nodes


def folder_of(module: str) -> str:
    """Name the folder of a module."""
    return module.rpartition("/")[0]


def imports_of(module: str) -> Iterator[tuple[str, int]]:
    """Name what a module imports, dotted, and in which line; of `from a import b` both `a` and `a.b`."""
    for node in modules()[module]:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def folder_imports() -> dict[str, set[str]]:
    """Map each folder to the other folders that its modules import from."""
    homes = {module.removesuffix(".py").replace("/", "."): folder_of(module) for module in modules()}
    imported: dict[str, set[str]] = defaultdict(set)
    for module in modules():
        here = folder_of(module)
        imported[here] |= {homes[name] for name, _ in imports_of(module) if name in homes} - {here}
    return imported


def circles(imported: dict[str, set[str]]) -> list[set[str]]:
    """List the largest sets of folders in which each reaches each other."""

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        open_folders = [start]
        while open_folders:
            fresh = imported.get(open_folders.pop(), set()) - seen
            seen |= fresh
            open_folders += fresh
        return seen

    reach = {folder: reached(folder) for folder in imported}
    sets = {frozenset(other for other in reach[folder] if folder in reach.get(other, ())) for folder in reach}
    return [set(circle) for circle in sets if circle]


def source_lines() -> dict[str, int]:
    """Count the lines of each module."""
    return {module: len((ROOT / module).read_text(encoding="utf-8").splitlines()) for module in modules()}


def names_of(kind: type[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Yield every node of a kind with its module."""
    for module, nodes in modules().items():
        yield from ((module, node) for node in nodes if isinstance(node, kind))


def doubles(names: Iterable[str]) -> int:
    """Count the names that occur twice or more."""
    return sum(count > 1 for count in Counter(names).values())


def vague_names() -> list[str]:
    """List the places that bind a name which says nothing of the thing: variables, fields and parameters."""
    return [f"{module}:{node.lineno} {name}" for module, node, name in _bindings() if name in VAGUE]


def _bindings() -> Iterator[tuple[str, ast.Name | ast.Attribute | ast.arg, str]]:
    for module, nodes in modules().items():
        for node in nodes:
            if isinstance(node, ast.arg):
                yield module, node, node.arg
            elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield module, node, node.id if isinstance(node, ast.Name) else node.attr


def old_words() -> list[str]:
    """List the docstrings with words of another age, and which they are."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    places = []
    for module, nodes in modules().items():
        for node in nodes:
            if isinstance(node, documented):
                words = re.findall(r"stands (?:out|for)|[a-z]+", (ast.get_docstring(node) or "").lower())
                line = node.body[0].lineno if node.body else 1
                places += [f"{module}:{line} {word}" for word in words if word in WORDS]
    return places


def counted() -> list[Measure]:
    """Count what the sources show."""
    lines = source_lines()
    stems = [module for module in lines if not module.endswith("__init__.py")]
    fullest, most = Counter(map(folder_of, stems)).most_common(1)[0]
    circle_list = circles(folder_imports())
    functions = [
        (module, node)
        for kind in (ast.FunctionDef, ast.AsyncFunctionDef)
        for module, node in names_of(kind)
        if isinstance(node, kind)
    ]
    classes = [
        node.name for _, node in names_of(ast.ClassDef) if isinstance(node, ast.ClassDef) and node.name[0] != "_"
    ]
    plain = [Path(module).stem for module in stems]
    schemas = sum(len(path.read_text().splitlines()) for path in (ROOT / "docs" / "schemas").glob("*.json"))
    return [
        Measure("modules in the fullest folder", "98", f"{most} ({fullest})", "≤ 25"),
        Measure("circles of imports between folders", "2", str(len(circle_list)), "0"),
        Measure(
            "module names that occur twice or more", "50", str(doubles(plain)), "only where the folder says which"
        ),
        Measure(
            "public class names used twice or more", "76 of 734", f"{doubles(classes)} of {len(classes)}", "0"
        ),
        Measure("modules named by a verb form alone", "139", str(sum(map(is_verb_form, plain))), "0"),
        Measure("modules under 50 lines", "89", str(sum(lines[module] < TINY_LINES for module in stems)), ""),
        Measure("the longest module, lines", "299", str(max(lines.values())), "≤ 400"),
        Measure("functions that write JSON by hand", "48", str(json_functions(functions)), "0"),
        Measure("lines of JSON schemas, made from models", "4,328 by hand", f"{schemas:,}", "made"),
        Measure("handlers named _", "18", str(sum(node.name == "_" for _, node in functions)), "0"),
        Measure("names one, found, said, told", "", f"{len(vague_names()):,}", "0"),
        Measure("words of another age in docstrings", "", f"{len(old_words()):,}", "0"),
        Measure(
            "modules and lines of the product", "564, 68,900", f"{len(lines)}, {sum(lines.values()):,}", "≤ 58,000"
        ),
    ]


def is_verb_form(stem: str) -> bool:
    """Tell whether a module is named by a verb form without its object."""
    return "_" not in stem and stem.endswith(("ed", "ing"))


def json_functions(functions: Iterable[tuple[str, ast.AST]]) -> int:
    """Count the functions whose name ends in `_json`."""
    return sum(getattr(node, "name", "").endswith("_json") for _, node in functions)


def measured() -> list[Measure]:
    """Evolve the demo's skill and press a key on the Why screen, in a folder of their own."""
    from tui.cli.main import main  # noqa: PLC0415 - what it loads is part of what is measured

    with TemporaryDirectory() as folder, chdir(folder):
        from tui.demo import demo_folder  # noqa: PLC0415 - see above

        copytree(demo_folder() / "skills", "skills")
        copytree(demo_folder() / "recordings", "logs")
        for words in (["init"], ["import", "skills"]):
            quietly(main, words)
        evolve = ["evolve", "sql-analyst", "--logs", "logs/sql", "--seed", "7", "--cycles", "1"]
        entered = functions_entered(lambda: quietly(main, evolve))
        files = {name for name, _ in entered}
        queries = asyncio.run(queries_of_a_key(Path(".germline") / "registry.db"))
    return [
        Measure(
            "functions that one evolve enters", "773 in 181 files", f"{len(entered)} in {len(files)} files", "half"
        ),
        Measure("SQL statements of the dearest key on Why", "119", str(queries), "≤ 10"),
    ]


def quietly(main: Any, words: list[str]) -> None:  # noqa: ANN401 - the entry point of the command line
    """Run a command without its words; raises SystemExit where it fails."""
    with redirect_stdout(StringIO()):
        if code := main(["--quiet", *words]):
            raise SystemExit(f"germline {' '.join(words)} ended with {code}")


def functions_entered(run: Any) -> set[tuple[str, str]]:  # noqa: ANN401 - any call
    """Name every function of the product that a call enters, by file and qualified name, in all its threads."""
    entered: set[tuple[str, str]] = set()
    inside = tuple(f"{ROOT / package}{os.sep}" for package in PACKAGES)

    def look(frame: FrameType, event: str, _: object) -> None:
        is_function = frame.f_code.co_flags & CO_OPTIMIZED  # the body of a class is run too, once, without it
        if event == "call" and is_function and frame.f_code.co_filename.startswith(inside):
            name = frame.f_code.co_qualname
            if not name.endswith(("<module>", "<lambda>", "comp>", "<genexpr>")):
                entered.add((frame.f_code.co_filename, name))

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return entered


async def queries_of_a_key(path: Path) -> int:
    """Count the SQL statements of the dearest key that moves the cursor of the Why screen down by a line."""
    from events.clock import SystemClock  # noqa: PLC0415 - the screens are loaded for this row alone
    from tui.screens.app import GermlineApp  # noqa: PLC0415
    from tui.session.open_registry import open_library  # noqa: PLC0415

    statements: list[str] = []
    connect = sqlite3.connect

    def traced(*words: Any, **options: Any) -> sqlite3.Connection:  # noqa: ANN401 - sqlite3's own
        connection: sqlite3.Connection = connect(*words, **options)
        connection.set_trace_callback(statements.append)
        return connection

    sqlite3.connect = traced  # type: ignore[assignment] # for the time of this count
    try:
        now = SystemClock().now()
        app = GermlineApp(lambda: open_library(path), at="sql-analyst:1", now=lambda: now)
        async with app.run_test(size=(140, 40)) as pilot:
            await asyncio.sleep(OPENED_S)
            asked = []
            for _ in range(LINES):
                statements.clear()
                await pilot.press("down")
                await asyncio.sleep(SETTLED_S)
                asked.append(len(statements))
            return max(asked)
    finally:
        sqlite3.connect = connect


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--run", action="store_true", help="also evolve, and press a key on the Why screen")
    rows = counted() + (measured() if parser.parse_args().run else [])
    wide = max(len(row.name) for row in rows)
    print(f"{'measure':<{wide}}  {'2026-11-22':>16}  {'now':>28}  to reach")
    for row in rows:
        print(f"{row.name:<{wide}}  {row.before:>16}  {row.now:>28}  {row.wanted}")


if __name__ == "__main__":
    main()
