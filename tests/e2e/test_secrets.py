"""A secret that stands in a log is nowhere afterwards: not in the database, nor the skills, nor on the screen."""

from __future__ import annotations

from shutil import copytree
from typing import TYPE_CHECKING

import pytest

from strategies.logs.readers import reader_names
from tests.planted import FORMATS, SECRETS, planted_recordings
from tests.terminal import SPLIT_KEY, Terminal
from tui.demo import demo_folder

if TYPE_CHECKING:
    from pathlib import Path


def leaked(folder: Path, outputs: list[str]) -> list[str]:
    """Look for each secret in every byte below a folder but its logs, and in all that was printed."""
    files = [path for path in folder.rglob("*") if path.is_file() and "logs" not in path.parts]
    assert any(path.name == "registry.db" for path in files)
    texts = {str(path.relative_to(folder)): path.read_bytes() for path in files}
    texts |= {f"output {number}": said.encode() for number, said in enumerate(outputs)}
    forms = [(secret, form.encode()) for secret in SECRETS for form in (secret, secret.replace("\n", "\\n"))]
    return sorted(
        {f"{secret[:12]}… in {name}" for name, body in texts.items() for secret, form in forms if form in body}
    )


@pytest.mark.parametrize("log_format", FORMATS)
def test_a_secret_in_a_log_is_nowhere_in_the_registry_or_on_the_screen(tmp_path: Path, log_format: str) -> None:
    if log_format not in reader_names():
        pytest.skip(f"no reader of {log_format}")
    germline = Terminal(tmp_path).with_skill()
    name, write = FORMATS[log_format]
    for number in range(4):
        germline.write(f"logs/{number}/{name}", write(number))
    scanned = germline.does("scan", "logs", "--json")
    assert scanned.json["signals"] >= 3
    germline.write(f"logs/5/{name}", write(5))
    said = [scanned, germline.does("scan", "logs")]
    asked = (["status"], ["status", "--json"], ["signals"], ["signals", "--json"])
    said += [germline.does(*words) for words in asked]
    said += [germline.does("signals", "--quality", "--json"), germline.does("log", "--json")]
    pieces = [piece for row in said[5].json["signals"] for piece in row["evidence"]]
    assert pieces
    shown = [germline.does("evidence", "show", piece, "--json") for piece in pieces[:5]]
    assert any(one.json["redactions"] for one in shown)
    said += [*shown, germline.does("evidence", "show", pieces[0])]
    assert leaked(tmp_path, [text for answer in said for text in (answer.out, answer.err)]) == []
    assert germline.does("verify", "--json").json["ok"]


def test_a_secret_in_a_log_never_reaches_a_skill_that_learns_from_it(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    germline.does("init", "--split-key", SPLIT_KEY)
    copytree(demo_folder() / "skills", tmp_path / "skills")
    germline.does("import", "skills")
    logs = planted_recordings(tmp_path / "logs")
    said = [germline.does("evolve", "sql-analyst", "--logs", logs, "--seed", "7", "--cycles", "1")]
    assert "promote" in said[0].out
    line = germline.learned_line()
    asked = (
        ["why", f"sql-analyst:{line}", "--all"],
        ["why", f"sql-analyst:{line}", "--json"],
        ["show", "sql-analyst", "--blame"],
        ["status"],
        ["candidates"],
        ["log", "--json"],
        ["project", "sql-analyst", "--annotated", "--to", "copies"],
    )
    said += [germline.does(*words) for words in asked]
    assert "[private-key]" in said[2].out
    assert leaked(tmp_path, [text for answer in said for text in (answer.out, answer.err)]) == []
