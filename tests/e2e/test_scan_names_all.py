"""Scanning says what it read and what it did not: mappings, copies, links, bad files, kinds nobody knows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from events.store.protocol import StoredEpisode
from strategies.episodes.episode_records import encode
from strategies.logs.formats_table import reader_named
from strategies.logs.scan_file import ReadTask, scan_file
from strategies.pool.known_episodes import all_episodes
from tests.e2e.test_secrets import leaked
from tests.mapped_logs import EVALS, RUNS
from tests.planted import TOKEN
from tests.sample_logs import CHAT, INTERCODE, STEPS, jsonl
from tests.terminal import SPLIT_KEY, Terminal
from tui.session.open_registry import find_registry, open_registry

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    terminal = Terminal(tmp_path)
    terminal.does("init", "--split-key", SPLIT_KEY)
    return terminal


def mapping(**other: object) -> str:
    table = {**EVALS, "glob": "evals/*.json", **other}
    return "[logs.evals]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())


def test_a_mapping_of_germline_toml_reads_a_shape_that_no_reader_knows(germline: Terminal) -> None:
    germline.write("evals/a.json", json.dumps({"results": RUNS}))
    assert "not a log of a known format" in germline("scan", "evals/a.json").err
    germline.write("germline.toml", mapping())
    answer = germline.does("scan", "evals", "--json").json
    assert (answer["new_episodes"], answer["errors"], answer["empty"]) == (2, 2, [])
    assert germline.does("scan", "evals/a.json", "--format", "evals", "--json").json["unchanged"] == 1
    assert reader_named("evals").name == "evals"
    explained = germline.does("scan", "--explain", "evals/a.json").out
    assert "evals              reads it: 2 episodes" in explained
    assert "steps = 'trace.events': found 2×" in explained
    germline.write("germline.toml", mapping(steps="trace.step"))
    answer = germline("scan", "evals", "--strict")
    assert answer.code == 1
    assert "nothing at steps = 'trace.step'; its keys: run_id" in answer.out


def test_no_secret_of_a_mapped_log_is_kept(germline: Terminal) -> None:
    text = json.dumps({"results": RUNS}).replace("r1", TOKEN).replace("no such table: ", f"no {TOKEN} ")
    germline.write("logs/a.json", text.replace("run_id", f'run_id": 1, "{TOKEN}'))
    germline.write("germline.toml", mapping(glob="logs/*.json"))
    answers = [germline("scan", "logs", "--strict"), germline("scan", "logs", "--strict", "--json")]
    answers.append(germline.does("signals", "--json"))
    assert leaked(germline.folder, [text for answer in answers for text in (answer.out, answer.err)]) == []


def test_the_glob_of_a_project_that_leads_out_of_it_waits_for_trust(germline: Terminal) -> None:
    germline.write("germline.toml", mapping(glob="/var/**/*.json"))
    germline.write("logs/own.jsonl", STEPS)
    germline.answers_for_project = False
    answer = germline("scan", "logs")
    assert answer.code == 2
    assert "logs.evals" in answer.err
    germline.write("germline.toml", mapping())
    assert germline("scan", "logs").code == 0


def test_a_mapping_that_cannot_be_is_refused_by_its_key(germline: Terminal) -> None:
    for table, what in ((mapping(format="chat"), "sets format and"), (mapping(texts="x"), "sets texts")):
        germline.write("germline.toml", table)
        answer = germline("scan", "evals")
        assert (answer.code, what in answer.err) == (2, True)
    germline.write("germline.toml", '[logs.evals]\nglob = "*"\nformat = "chatt"\n')
    assert "no log format 'chatt'" in germline("scan", "evals").err
    germline.write("germline.toml", '[logs.codex]\nglob = "*"\ntext = "x"\n')
    assert "[logs.codex] has the name of a format" in germline("scan", "evals").err


def test_a_copy_under_another_name_counts_once_now_and_later(germline: Terminal) -> None:
    germline.write("logs/run_a.json", INTERCODE)
    germline.write("logs/run_b.json", INTERCODE)
    first = germline.does("scan", "logs", "--json").json
    assert (first["new_episodes"], first["duplicates"]) == (2, 2)
    germline.write("logs/run_c.json", INTERCODE)
    answer = germline.does("scan", "logs")
    assert "2 in copies of other files" in answer.out
    assert germline.does("scan", "logs", "--json").json["new_episodes"] == 0


def test_what_the_log_itself_tells_apart_are_two_episodes(germline: Terminal) -> None:
    for name in ("a", "b"):
        run = {
            "id": name,
            "model": "m",
            "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ok"}],
        }
        germline.write(f"logs/{name}.json", json.dumps(run))
    assert germline.does("scan", "logs", "--json").json["new_episodes"] == 2


def test_a_registry_that_holds_both_copies_goes_on_with_both(germline: Terminal, tmp_path: Path) -> None:
    files = [germline.write(f"logs/{name}.json", INTERCODE) for name in ("run_a", "run_b")]
    with open_registry(find_registry(str(tmp_path / ".germline" / "registry.db"))) as registry:
        for file in files:
            registry.log.put_episodes(
                [
                    StoredEpisode(draft.id, draft.source, encode(draft))
                    for draft in scan_file(ReadTask(path=file)).drafts
                ]
            )
        before = {record.id for record in all_episodes(registry)}
        assert len(before) == 4
    germline.does("scan", "logs")
    with open_registry(find_registry(str(tmp_path / ".germline" / "registry.db"))) as registry:
        assert {record.id for record in all_episodes(registry)} == before


def test_one_bad_file_of_a_folder_stops_no_other_and_is_named(germline: Terminal) -> None:
    germline.write("logs/good.jsonl", STEPS)
    germline.write("logs/bad.json", INTERCODE[:-20])
    answer = germline("scan", "logs", "--strict", "--json")
    assert (answer.code, answer.json["new_episodes"]) == (1, 2)
    assert "bad.json: not a whole JSON document" in answer.json["broken"][0]
    assert "passed over: " in answer.err
    named = germline("scan", "logs/good.jsonl", "logs/bad.json")
    assert named.code == 2
    assert "bad.json" in named.err


def test_links_in_a_folder_are_named(germline: Terminal, tmp_path: Path) -> None:
    germline.write("elsewhere/own.jsonl", STEPS)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "link.jsonl").symlink_to(tmp_path / "elsewhere" / "own.jsonl")
    (tmp_path / "logs" / "folder").symlink_to(tmp_path / "elsewhere")
    answer = germline.does("scan", "logs")
    assert "2 links passed over" in answer.err
    assert "folder, link.jsonl" in answer.err
    assert germline.does("scan", "logs/link.jsonl", "--json").json["new_episodes"] == 2


def test_roles_that_are_not_known_are_counted_for_people_too(germline: Terminal) -> None:
    messages = [{"role": "user", "content": "hi"}, *({"role": "critic", "content": "hm"} for _ in range(3))]
    germline.write("logs/a.json", json.dumps({"messages": [*messages, {"role": "assistant"}]}))
    assert "role critic (3), message of assistant without content (1)" in germline.does("scan", "logs").err


def test_what_gave_nothing_before_is_looked_at_again_by_strict_and_counted_by_any_scan(germline: Terminal) -> None:
    germline.write("logs/a.json", json.dumps({"messages": [{"role": "critic", "content": "hm"}]}))
    germline.write("logs/own.jsonl", STEPS)
    assert germline("scan", "logs", "--strict").code == 1
    assert "2 files unchanged (1 not read whole: --strict says why)" in germline.does("scan", "logs").out
    again = germline("scan", "logs", "--strict")
    assert (again.code, "a.json: read as chat" in again.out) == (1, True)
    germline.write("logs/a.json", CHAT)
    assert germline("scan", "logs", "--strict").code == 0
    assert germline("scan", "logs", "--strict").code == 0


def test_a_format_that_is_insisted_on_is_the_one_that_reads(germline: Terminal) -> None:
    germline.write("logs/own.jsonl", STEPS)
    germline.does("scan", "logs")
    forced = germline.does("scan", "logs", "--format", "codex")
    assert "read as codex" in forced.out
    assert "1 file unchanged" in germline.does("scan", "logs").out


def test_explaining_a_folder_goes_on_behind_a_damaged_archive(germline: Terminal) -> None:
    germline.write("logs/a.jsonl.gz", b"\x1f\x8b\x08\x00garbage")
    germline.write("logs/own.jsonl", STEPS)
    answer = germline.does("scan", "--explain", "logs")
    assert "the gzip stream is" in answer.out
    assert "steps              reads it: 2 episodes" in answer.out


def test_no_path_is_no_folder(germline: Terminal) -> None:
    answer = germline("scan", "")
    assert (answer.code, "argument 1 of germline scan is empty" in answer.err) == (2, True)


def test_a_head_of_three_words_is_named(germline: Terminal) -> None:
    step = {"type": "step", "episode": "a", "tool": "bash", "head": "git remote add", "text": "git remote add x"}
    germline.write("logs/own.jsonl", jsonl(step))
    assert "head that is no one or two words (1)" in germline.does("scan", "logs").err


def test_a_folder_without_files_and_chat_without_messages_say_so(germline: Terminal) -> None:
    germline.write("logs/.copilot/a.jsonl", "")
    out = germline.does("scan", "logs").out
    assert "nothing    no files are there; in a folder, those whose names begin with a dot are passed over" in out
    germline.write("logs/a.jsonl", json.dumps({"item": {"role": "user", "content": "Hi"}}) + "\n")
    assert "read as chat, line 1 does not fit: no list of messages in it" in germline("scan", "logs").out
