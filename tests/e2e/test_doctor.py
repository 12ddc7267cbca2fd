"""What the doctor finds: what is set up and holds, what is missing, what does not hold, and what mends it."""

from __future__ import annotations

import json
import sqlite3
import stat
from contextlib import closing
from importlib.metadata import EntryPoint, EntryPoints
from typing import TYPE_CHECKING, Any

import pytest

from strategies.claims import catalogue
from strategies.logs.reader_plugins import BrokenReader
from tests.anthropic_stub import KEY, LATEST, AnthropicStub, Step, fails
from tests.terminal import Terminal
from tui.cli.commands.registry import doctor_checks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DROP_TRIGGERS = "SELECT 'DROP TRIGGER ' || name FROM sqlite_master WHERE type = 'trigger'"
SESSION = {"sessionId": "s1", "type": "user", "uuid": "1", "message": {"role": "user", "content": "List files"}}


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, ANTHROPIC_API_KEY="", CLAUDE_CONFIG_DIR="", CODEX_HOME="").with_skill()


def checks(germline: Terminal, name: str, *, code: int = 0) -> list[dict[str, Any]]:
    answer = germline("doctor", "--json")
    assert answer.code == code, answer.out
    assert answer.json["ok"] is (code == 0)
    return [check for check in answer.json["checks"] if check["name"] == name]


def test_a_registry_that_holds_is_well(germline: Terminal) -> None:
    (registry,) = checks(germline, "registry")
    assert registry["state"] == "ok"
    assert "all of them hold" in registry["said"]
    (skill,) = checks(germline, "skills")
    assert (skill["state"], skill["said"]) == ("ok", "sql-analyst@1, as projected")
    assert "all that is set up holds" in germline.does("doctor").out


def test_where_nothing_is_set_up_nothing_is_broken(tmp_path: Path) -> None:
    bare = Terminal(tmp_path, ANTHROPIC_API_KEY="", CLAUDE_CONFIG_DIR="", CODEX_HOME="")
    (registry,) = checks(bare, "registry")
    assert (registry["state"], registry["mend"]) == ("missing", "germline init")
    assert {check["state"] for check in bare.does("doctor", "--json").json["checks"]} <= {"ok", "missing"}


@pytest.mark.parametrize("column", ["payload", "actor", "hash"])
def test_a_changed_event_at_the_end_of_the_log_is_found(germline: Terminal, column: str) -> None:
    with closing(sqlite3.connect(germline.folder / ".germline/registry.db")) as connection:
        for (drop,) in connection.execute(DROP_TRIGGERS).fetchall():
            connection.execute(drop)
        change = "CAST(replace(CAST(payload AS TEXT), 'version', 'Version') AS BLOB)"
        text = change if column == "payload" else f"'~' || substr({column}, 2)"
        connection.execute(
            f"UPDATE events SET {column} = {text} WHERE position = (SELECT max(position) FROM events)"
        )
        connection.commit()
    (registry,) = checks(germline, "registry", code=3)
    assert (registry["state"], registry["mend"]) == ("broken", "germline verify")
    assert "does not hold" in registry["said"]
    assert germline("verify").code == 3


def test_a_removed_event_is_found(germline: Terminal) -> None:
    with closing(sqlite3.connect(germline.folder / ".germline/registry.db")) as connection:
        for (drop,) in connection.execute(DROP_TRIGGERS).fetchall():
            connection.execute(drop)
        connection.execute("DELETE FROM events WHERE position = 2")
        connection.commit()
    (registry,) = checks(germline, "registry", code=3)
    assert "event 3 does not hold" in registry["said"]


def test_a_file_that_is_no_registry_is_told(tmp_path: Path) -> None:
    (tmp_path / "registry.db").write_bytes(b"no database at all, " * 100)
    germline = Terminal(tmp_path, GERMLINE_REGISTRY=str(tmp_path / "registry.db"))
    (registry,) = checks(germline, "registry", code=3)
    assert registry["state"] == "broken"


@pytest.mark.parametrize(
    ("edit", "message", "mend"),
    [
        ("edit", "edited by hand: SKILL.md", "germline adopt sql-analyst"),
        ("remove", "not on disk", "germline project"),
    ],
)
def test_skills_that_drifted_are_named_with_what_mends_them(
    germline: Terminal, edit: str, message: str, mend: str
) -> None:
    file = germline.folder / "skills" / "sql-analyst" / "SKILL.md"
    file.write_text(file.read_text() + "More.\n") if edit == "edit" else file.unlink()
    (skill,) = checks(germline, "skills", code=3)
    assert message in skill["said"]
    assert mend in skill["mend"]
    assert mend in germline("doctor").out


@pytest.mark.parametrize(
    ("text", "message", "mend"), [("sead = 1", "sead", "did you mean seed?"), ("seed = ", "no TOML", "mend it")]
)
def test_settings_that_cannot_be_read_are_told(germline: Terminal, text: str, message: str, mend: str) -> None:
    germline.write("germline.toml", text)
    (settings,) = checks(germline, "settings", code=3)
    assert message in settings["said"]
    assert mend in settings["mend"]
    assert checks(germline, "registry", code=3)[0]["state"] == "ok"  # one fault hides no other check


def test_a_misspelt_variable_is_told(tmp_path: Path) -> None:
    germline = Terminal(tmp_path, GERMLINE_SEDE="3").with_skill()
    assert [check["mend"] for check in checks(germline, "settings", code=3)][1:] == ["did you mean GERMLINE_SEED?"]


def test_logs_in_the_usual_places_are_offered_until_they_are_scanned(germline: Terminal) -> None:
    assert checks(germline, "logs")[0]["mend"] == "germline scan PATH"
    germline.write(
        ".claude/projects/x/s1.jsonl", json.dumps(SESSION | {"cwd": str(germline.folder.resolve())}) + "\n"
    )
    (logs,) = checks(germline, "logs")
    assert (logs["state"], "0 of 1 file scanned" in logs["said"]) == ("missing", True)
    germline.does("scan")
    (logs,) = checks(germline, "logs")
    assert (logs["state"], "1 of 1 file scanned" in logs["said"], logs["mend"]) == ("ok", True, "")


def test_a_path_of_the_settings_that_is_not_there_is_told(germline: Terminal) -> None:
    germline.write("germline.toml", '[scan]\npaths = ["gone"]\n[rollouts]\ntasks = "none.toml"\n')
    assert [check["state"] for check in checks(germline, "logs", code=3)] == ["broken"]
    (rollouts,) = checks(germline, "rollouts", code=3)
    assert "none.toml, which is not there" in rollouts["said"]


def test_tools_are_named_and_keys_are_not_shown(tmp_path: Path) -> None:
    secret = "sk-ant-" + "x" * 20
    germline = Terminal(tmp_path, ANTHROPIC_API_KEY=secret, PATH=f"{tmp_path / 'bin'}:/usr/bin:/bin").with_skill()
    germline.write("bin/gitleaks", "#!/bin/sh\nexit 0\n").chmod(stat.S_IRWXU)
    (model,) = checks(germline, "model")
    assert (model["state"], model["said"]) == ("ok", "ANTHROPIC_API_KEY is set")
    (gitleaks,) = checks(germline, "gitleaks")
    assert (gitleaks["state"], str(tmp_path / "bin") in gitleaks["said"]) == ("ok", True)
    assert secret not in germline("doctor").out + germline("doctor", "--json").out


def test_without_a_key_it_is_said_what_one_would_add_and_nothing_is_broken(germline: Terminal) -> None:
    (model,) = checks(germline, "model")
    assert (model["state"], model["mend"]) == ("missing", "export ANTHROPIC_API_KEY=…")
    for word in ("proposes", "writes skills", "judges", "advises", "runs tasks", "all else works without"):
        assert word in model["said"]
    (models,) = checks(germline, "models")
    assert (models["state"], models["mend"]) == ("missing", 'proposer = "NAME" under [models] in germline.toml')


def answering(step: Step) -> Callable[[str], Step]:
    return lambda _: step


def test_a_server_of_models_is_asked_which_it_has(germline: Terminal) -> None:
    with AnthropicStub(key="") as stub:
        for name, state, words in (
            ("stub-judge", "ok", f"{stub.base_url}/v1 has stub-judge"),
            ("gone", "broken", f"{stub.base_url}/v1 has no model gone; it has stub-proposer, stub-writer"),
        ):
            germline.write("germline.toml", f'[models]\nproposer = "openai:{name}@{stub.base_url}/v1"\n')
            checked = checks(germline, "models", code=3 * (state == "broken"))[-1]
            assert (checked["state"], checked["said"][: len(words)]) == (state, words)
        address = stub.base_url
    germline.write("germline.toml", f'[models]\nproposer = "openai:x@{address}/v1"\n')
    assert "no connection" in checks(germline, "models", code=3)[-1]["said"]


def test_the_server_of_claude_is_asked_which_models_it_has(tmp_path: Path) -> None:
    germline = Terminal(tmp_path, ANTHROPIC_API_KEY=KEY, CLAUDE_CONFIG_DIR="", CODEX_HOME="").with_skill()

    def checked(name: str, code: int) -> dict[str, Any]:
        settings = f'[models]\njudge = "{name}"\nbase_url = "{stub.base_url}"\ncap_usd_per_cycle = 0\n'
        germline.write("germline.toml", f"{settings}cap_usd_per_day = 0\n")
        return checks(germline, "models", code=code)[1]

    with AnthropicStub() as stub:
        for name in ("stub-judge", LATEST):
            assert (checked(name, 0)["state"], checked(name, 0)["said"]) == ("ok", f"{stub.base_url} has {name}")
        wrong = checked("stub-jugde", 3)
        assert wrong["said"].startswith(f"{stub.base_url} has no model stub-jugde; it has stub-proposer, stub-")
        assert wrong["mend"] == "did you mean stub-judge? under [models] in germline.toml"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stub, "_tells", lambda _: fails(404, "not_found_error", "no such path"))
            silent = checked("stub-judge", 0)
            says_nothing = ("missing", f"{stub.base_url} does not say which models it has")
            assert (silent["state"], silent["said"]) == says_nothing
            for odd in (Step("<html>"), Step([]), Step({"data": 5})):  # as servers that only pass messages on
                patch.setattr(stub, "_tells", answering(odd))
                silent = checked("stub-judge", 0)
                assert (silent["state"], silent["said"]) == says_nothing
        stub.key = "another"
        assert "was refused" in checked("stub-judge", 3)["said"]
    assert "no connection" in checked("stub-judge", 3)["said"]
    assert KEY not in germline("doctor").out


def test_models_are_named_with_their_caps_and_one_without_a_price_is_a_fault(germline: Terminal) -> None:
    germline.write("germline.toml", '[models]\nproposer = "claude-haiku-4-5"\ncap_usd_per_day = 3\n')
    (models,) = checks(germline, "models")
    assert models["said"] == "proposer claude-haiku-4-5; at most 2 USD a cycle, 3 a day (0: no cap)"
    germline.write("germline.toml", '[models]\njudge = "our-own"\n')
    fault = checks(germline, "models", code=3)[1]
    assert "no price of our-own is known" in fault["said"]
    assert fault["mend"] == '[models.prices."our-own"] in germline.toml'
    germline.write("germline.toml", '[models]\njudge = "claude-haku-4-5"\n')
    assert checks(germline, "models", code=3)[1]["mend"].startswith(
        "did you mean claude-haiku-4-5? [models.prices"
    )


@pytest.mark.parametrize(
    ("consent", "state", "code"), [("", "broken", 3), ("allow_unisolated = true\n", "missing", 0)]
)
def test_isolation_that_is_missing_matters_where_rollouts_are_set_up(
    germline: Terminal, monkeypatch: pytest.MonkeyPatch, consent: str, state: str, code: int
) -> None:
    monkeypatch.setattr("strategies.sandbox.confined_run.missing_isolation", lambda: ("network",))
    assert checks(germline, "isolation")[0]["state"] == "missing"
    germline.write("tasks.toml", "")
    germline.write("germline.toml", f'[rollouts]\ntasks = "tasks.toml"\n{consent}')
    (isolation,) = checks(germline, "isolation", code=code)
    assert not checks(germline, "rollouts", code=code)
    (germline.folder / "set").mkdir()
    germline.write("germline.toml", f'[rollouts]\ntasks = "set"\n{consent}')
    assert not checks(germline, "rollouts", code=code), "a folder of tasks is there, too"
    assert (isolation["state"], isolation["said"]) == (state, "the network is not cut off")


def test_plug_ins_that_do_not_work_are_named(germline: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [check["state"] for check in checks(germline, "plug-ins")] == ["ok"]
    point = EntryPoint("of-nobody", "builtins:object", catalogue.ENTRY_POINTS)
    monkeypatch.setattr(catalogue, "entry_points", lambda **asked: EntryPoints([point]).select(**asked))
    monkeypatch.setattr(
        doctor_checks, "broken_readers", lambda: (BrokenReader("ours", "package", "KeyError('x')"),)
    )
    broken = checks(germline, "plug-ins", code=3)
    assert [check["said"].partition(" does")[0] for check in broken] == [
        "reader ours of package",
        "claim of-nobody",
    ]
    assert "KeyError" in broken[0]["said"]
    assert "no kind of claim" in broken[1]["said"]


def test_a_package_whose_modules_are_named_as_ours_is_found(
    germline: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert checks(germline, "packages") == []
    for name, modules in (("Events-0.5", "events\n"), ("innocent-1.0", "innocent\n")):
        germline.write(f"site/{name}.dist-info/METADATA", f"Name: {name.partition('-')[0]}\nVersion: 1\n")
        germline.write(f"site/{name}.dist-info/top_level.txt", modules)
    monkeypatch.syspath_prepend(tmp_path / "site")
    (check,) = checks(germline, "packages", code=3)
    assert check["said"] == "Events and germline both have modules named events"
