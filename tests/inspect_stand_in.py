"""A stand-in for the package that reads Inspect logs, and logs for it: the real package is an extra."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pytest

Record = dict[str, object]

HEADER: Record = {"run_id": "r", "task": "sums", "task_id": "t", "model": "model-x", "dataset": {"name": None}}


@dataclass
class Dumped:
    """What pydantic models do here."""

    value: object

    def model_dump_json(self, **_: object) -> str:
        return json.dumps(self.value)


@dataclass
class FakeLog:
    """What `read_eval_log` gives."""

    eval: Dumped
    samples: list[Dumped]


def fake_read(path: str) -> FakeLog:
    """Read a log as Inspect does: as JSON, or from the members of an archive."""
    if path.endswith(".eval"):
        with zipfile.ZipFile(path) as archive:
            header = json.loads(archive.read("header.json"))["eval"]
            names = [name for name in archive.namelist() if name.startswith("samples/")]
            samples = [json.loads(archive.read(name)) for name in names]
            return FakeLog(Dumped(header), [Dumped(sample) for sample in samples])
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - a path as text, as Inspect takes it
        log = json.load(file)
    return FakeLog(Dumped(log["eval"]), [Dumped(sample) for sample in log["samples"]])


def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the stand-in where the package would be."""
    package, module = ModuleType("inspect_ai"), ModuleType("inspect_ai.log")
    vars(module)["read_eval_log"] = fake_read
    monkeypatch.setitem(sys.modules, "inspect_ai", package)
    monkeypatch.setitem(sys.modules, "inspect_ai.log", module)


def json_body(samples: Sequence[Record], header: Record = HEADER) -> str:
    """Write a log of the kind `.json`."""
    return json.dumps({"version": 2, "eval": header, "samples": samples}, indent=1, ensure_ascii=False)


def archive_body(samples: Sequence[Record], header: Record = HEADER, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Write a log of the kind `.eval`."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", method) as packed:
        packed.writestr("header.json", json.dumps({"eval": header}))
        for sample in samples:
            packed.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    return body.getvalue()


def json_log(folder: Path, *samples: Record) -> Path:
    """Write a log of the kind `.json` into a folder."""
    path = folder / "log.json"
    path.write_text(json_body(samples))
    return path


def archive(folder: Path, *samples: Record) -> Path:
    """Write a log of the kind `.eval` into a folder."""
    path = folder / "log.eval"
    path.write_bytes(archive_body(samples))
    return path
