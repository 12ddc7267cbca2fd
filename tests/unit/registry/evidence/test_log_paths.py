"""Paths of logs: a secret in a name is neither kept nor shown, and the log is found all the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.evidence.log_paths import kept_path, paths_of

TOKEN = "ghp_" + "a1B2" * 9
OTHER = "ghp_" + "Z9y8" * 9


def touched(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/logs/a.jsonl", "/logs/a.jsonl"),
        (f"/logs/{TOKEN}/a.jsonl", "/logs/[github-token]/a.jsonl"),
        (f"logs/run-{TOKEN}.jsonl.gz", "logs/run-[github-token].jsonl.gz"),
        ("/logs/caf\udce9/\udcff\udcfe.log", "/logs/caf[bytes]/[bytes].log"),
        ("/logs/password=corr3ct-horse/x/y.log", "/logs/password=[assigned-secret]/x/y.log"),
    ],
)
def test_the_names_on_the_way_are_kept_without_their_secrets(path: str, kept: str) -> None:
    assert kept_path(path) == kept
    assert kept_path(kept) == kept


def test_a_log_is_found_by_its_kept_path(tmp_path: Path) -> None:
    path = touched(tmp_path / f"for {TOKEN}" / "caf\udce9" / "password=corr3ct-horse" / "a.jsonl")
    touched(tmp_path / f"for {OTHER}" / "b.jsonl")
    assert paths_of(kept_path(str(path))) == [path]


def test_a_relative_path_is_found_from_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touched(tmp_path / TOKEN / "a.jsonl")
    monkeypatch.chdir(tmp_path)
    assert paths_of("[github-token]/a.jsonl") == [Path(TOKEN, "a.jsonl")]


def test_a_path_without_secrets_is_itself_whether_it_is_there_or_not(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.jsonl", tmp_path / "[jwt" / "x", touched(tmp_path / "there.jsonl")):
        assert paths_of(str(path)) == [path]


def test_a_name_that_only_looks_masked_is_found_too(tmp_path: Path) -> None:
    path = touched(tmp_path / "[jwt]" / "a.jsonl")
    assert paths_of(kept_path(str(path))) == [path]


def test_all_that_a_kept_path_may_stand_for_are_given_and_none_that_is_gone(tmp_path: Path) -> None:
    both = sorted([touched(tmp_path / f"{TOKEN}.jsonl"), touched(tmp_path / f"{OTHER}.jsonl")])
    kept = kept_path(str(both[0]))
    assert paths_of(kept) == both
    for path in both:
        path.unlink()
    assert paths_of(kept) == []
    assert paths_of(kept_path(f"{tmp_path}/no/folder/{TOKEN}/x")) == []
