"""JSON logs of shapes that no reader knows, each with the mapping that reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from strategies.logs.formats.mapped.log_mapping import LogMapping
from tests.sample_logs import Sample, jsonl


def _run(name: str, status: str) -> dict[str, object]:
    return {
        "run_id": name,
        "question": {"id": "q1", "text": "How many orders?"},
        "verdict": {"status": status},
        "trace": {
            "events": [
                {"who": "human", "say": "Be quick.", "ts": 1_700_000_000},
                {"who": "bot", "action": {"name": "sql", "input": "SELECT x", "err": "no such table: é"}},
                {"who": "bot", "action": {"name": "sql", "input": "SHOW TABLES", "output": "orders", "err": None}},
                {"who": "bot", "say": "Seven.", "ts": 1_700_000_009_000},
            ]
        },
    }


RUNS: Final = [_run("r1", "passed"), _run("r2", "gave up")]
CALLS: Final = [
    {"job": job, "cmd": "bash", "args": {"command": "git push"}, "out": out, "code": code, "won": won}
    for job in ("j1", "j2")
    for out, code, won in (("fatal: no remote", 128, None), ("done", 0, job == "j1"))
]

EVALS: Final = {
    "glob": "**/evals.json",
    "records": "results",
    "episode": "run_id",
    "task": "question.id",
    "prompt": "question.text",
    "outcome": "verdict.status",
    "success": ["passed"],
    "steps": "trace.events",
    "role": "who",
    "text": "say",
    "tool": "action.name",
    "argument": "action.input",
    "result": "action.output",
    "error": "action.err",
    "time": "ts",
}
LINES: Final = {key: value for key, value in EVALS.items() if key not in {"records", "episode"}} | {
    "glob": "**/lines.jsonl"
}
FLAT: Final = {
    "glob": "**/calls.jsonl",
    "episode": "job",
    "tool": "cmd",
    "argument": "args",
    "result": "out",
    "error": "code",
    "outcome": "won",
}
MAPPINGS: Final = tuple(
    LogMapping.from_mapping(name, table, Path("/"))
    for name, table in (("evals", EVALS), ("lines", LINES), ("flat", FLAT))
)
MAPPED: Final = (
    Sample("evals", "evals.json", json.dumps({"results": RUNS}, ensure_ascii=False).encode(), 2, 8, 2),
    Sample("lines", "lines.jsonl", jsonl(*RUNS), 2, 8, 2),
    Sample("flat", "calls.jsonl", jsonl(*CALLS), 2, 4, 2),
)
