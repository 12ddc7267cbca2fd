"""Which logs a glob means."""

from __future__ import annotations

import pytest

from strategies.scope.log_globs import LogGlobs


@pytest.mark.parametrize(
    ("glob", "path", "meant"),
    [
        ("/logs/a.jsonl", "/logs/a.jsonl", True),
        ("/logs/a.jsonl", "/logs/a.jsonl.gz", False),
        ("/logs", "/logs/deep/er/a.jsonl", True),
        ("/logs/", "/logs/a.jsonl", True),
        ("/logs", "/logs2/a.jsonl", False),
        ("/logs/*.jsonl", "/logs/a.jsonl", True),
        ("/logs/*.jsonl", "/logs/deep/a.jsonl", False),
        ("/logs/**/*.jsonl", "/logs/deep/er/a.jsonl", True),
        ("/logs/**/*.jsonl", "/logs/a.jsonl", True),
        ("/logs/git*", "/logs/git-2/a.jsonl", True),
        ("/logs/?.jsonl", "/logs/ab.jsonl", False),
        ("/logs/[ab].jsonl", "/logs/b.jsonl", True),
        ("/logs/[!ab].jsonl", "/logs/b.jsonl", False),
        ("/logs/[a-c]1.jsonl", "/logs/b1.jsonl", True),
        ("/logs/a+(b).jsonl", "/logs/a+(b).jsonl", True),
        ("/logs/[", "/logs/[", True),
    ],
)
def test_a_glob_means_files_by_name_and_folders_with_all_below(glob: str, path: str, *, meant: bool) -> None:
    assert (LogGlobs({"sql": (glob,)}).owners(path) == {"sql"}) is meant


def test_a_log_may_be_listed_for_several_skills_and_an_empty_list_means_none() -> None:
    globs = LogGlobs({"a": ("/x", "/y"), "b": ("/y",), "c": ()})
    assert globs.owners("/y/1") == {"a", "b"}
    assert globs.owners("/z") == frozenset()
    assert globs.of_these(["b"]).owners("/y/1") == {"b"}
