"""Folders of tasks in the format of Harbor, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FILES: Mapping[str, str] = {
    "task.toml": '[metadata]\ntags = ["file io"]\ndifficulty = "easy"\n[agent]\ntimeout_sec = 30.0\n',
    "instruction.md": "<!-- canary GUID 1 -->\n# canary 2\nWrite /app/word.txt to /app/out.txt; /apply nothing.\n",
    "environment/Dockerfile": (
        "FROM scratch AS build\nCOPY gone.txt /app/\nFROM ubuntu:24.04\n# COPY no.txt .\n"
        "RUN apt-get update \\\n  && apt-get install -y curl\nWORKDIR /app\nCOPY data/ /app/\nCOPY etc.txt /etc/\n"
    ),
    "environment/data/word.txt": "forty-two\n",
    "environment/data/more/deep.txt": "deep\n",
    "environment/etc.txt": "elsewhere\n",
    "tests/test.sh": (
        "mkdir -p /logs/verifier\ncd /app\n"
        "if python3 /tests/check.py; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
    ),
    "tests/check.py": "from pathlib import Path\nassert Path('/app/out.txt').read_text() == 'forty-two\\n'\n",
    "solution/solve.sh": "cp /app/word.txt /app/out.txt\n",
}


def harbor(folder: Path, *names: str, **other: str) -> Path:
    """Write tasks; `other` are files in place of those above, `__` in their names a slash, "" to leave one out."""
    changed = {name.replace("__", "/").replace("_dot_", "."): text for name, text in other.items()}
    for name in names:
        for path, text in {**FILES, **changed}.items():
            if text:
                (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / name / path).write_text(text)
    return folder
