"""Error texts become templates: what varies is masked, what tells errors apart stays."""

from __future__ import annotations

import pytest

from strategies.episodes.error_fingerprint import mask, normalised

TRACEBACK = """Traceback (most recent call last):
  File "/home/me/project/load.py", line 12, in main
    rows = parse(path)
  File "/home/me/project/rows.py", line 3, in parse
    return sqlite3.connect(path).execute(query)
  File "/usr/lib/python3.11/sqlite3/x.py", line 1, in execute
sqlite3.OperationalError: no such table: 'users'
"""


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("Error executing query: Table 'a.b' doesn't exist", "Table <*> doesn't exist"),
        ("Error executing query: Unknown column 'x' in 'field list'", "Unknown column <*> in <*>"),
        ("Error: near 'a = 'b'' at line 1", "near <*> at line <*>"),
        ("Error: near 'SELECT x\nFROM 'y' z' at line 2", "near <*> at line <*>"),
        ("Error: near 'SELECT x\nFROM y' at line 2", "near <*> at line <*>"),
        ("fatal: not a git repository", "fatal: not a git repository"),
        ("error: pathspec 'topic' did not match", "pathspec <*> did not match"),
        ("ERROR 1146 (42S02): Table 'a.b' doesn't exist", "Table <*> doesn't exist"),
        ("Exit code 1\nls: cannot access '/x/y': gone", "ls: cannot access <*>: gone"),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", "File has not been read yet."),
        ("\x1b[31mfatal:\x1b[0m no remote", "fatal: no remote"),
        ("collecting ...\nValueError: bad 12", "ValueError: bad <*>"),
        ("", ""),
    ],
)
def test_message_that_says_what_went_wrong_is_the_template(text: str, template: str) -> None:
    assert normalised(text) == template


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("id 123e4567-e89b-12d3-a456-426614174000.", "id <*>."),
        ("at 0xdeadbeef in /usr/lib/x.so:12", "at <*> in <*>:<*>"),
        ("commit 9fceb02d0ae5 is gone", "commit <*> is gone"),
        ("open src/app/main.py failed", "open <*> failed"),
        ("cat: README-shop.md: No such file", "cat: <*>: No such file"),
        (
            "console.log and json.loads and node:fs are no files",
            "console.log and json.loads and node:fs are no files",
        ),
        ('took 3.5s, "twice" on `main`', "took <*>, <*> on <*>"),
        ("GET https://x.org/a?b=c returned 404", "GET https://<*> returned <*>"),
        ("payment method gift_card_5094406 is gone", "payment method gift_card_<*> is gone"),
        ("Deleting blk_-16089 of job_1445_0020_m_0001", "Deleting blk_<*> of job_<*>"),
        ("src: /10.2.3.4:54106 dest: 10.2.3.5:50010", "src: /<*>:<*> dest: <*>:<*>"),
        ("proxy.example.org:5070 close, lifetime <1 sec", "<*>:<*> close, lifetime <*>"),
        ("generating core.848, v1.2.3, PS/2, node-D12", "generating core.<*>, v<*>, PS/<*>, node-D<*>"),
        ("cache prefetch depth.......7", "cache prefetch depth.......<*>"),
        ("from host7.dsl.example.net at Mon Jul 10 16:01:43 2005", "from <*> at <*>"),
        ("wake 5c:50:15:4c:18:13 and fe80:0:0:0:1:2", "wake <*> and <*>"),
        ('10.0.0.1 "GET /v2/54fa/servers HTTP/1.1" status: 200', '<*> "GET <*>" status: <*>'),
        ("allDrawn= false,mode=true uid=0", "allDrawn= <*>,mode=<*> uid=<*>"),
        ("error TS2345 and ORA-00942, SQLSTATE[42S02]", "error TS2345 and ORA-00942, SQLSTATE[42S02]"),
        ("E501 utf8 log4j ssh2 are words", "E501 utf8 log4j ssh2 are words"),
        ("it doesn't and won't match a facade", "it doesn't and won't match a facade"),
    ],
)
def test_values_are_masked_and_words_are_not(text: str, masked: str) -> None:
    assert mask(text) == masked


def test_type_named_by_the_log_comes_before_all_else() -> None:
    assert normalised(TRACEBACK, "timeout") == "timeout: no such table: <*>"
    assert normalised("", "user_interrupt") == "user_interrupt"


def test_stack_frame_of_the_project_comes_before_the_exception_class() -> None:
    assert normalised(TRACEBACK) == "sqlite3.OperationalError at rows.py:parse: no such table: <*>"


def test_frames_of_libraries_and_of_top_level_code_do_not_count() -> None:
    foreign = TRACEBACK.replace("/home/me/project", "/x/site-packages")
    top_level = TRACEBACK.replace("in main", "in <module>").replace("in parse", "in <module>")
    for text in (foreign, top_level):
        assert normalised(text) == "sqlite3.OperationalError: no such table: <*>"


def test_stack_trace_of_node_is_told_apart_by_its_own_first_frame() -> None:
    text = (
        "TypeError: x is not a function\n    at run (/app/node_modules/a.js:1:2)\n    at load (/app/src/b.js:3:4)"
    )
    assert normalised(text) == "TypeError at b.js:load: x is not a function"


def test_long_text_is_read_at_both_ends_only() -> None:
    assert normalised("noise\n" * 10_000 + "ValueError: x") == "ValueError: x"


def test_a_long_list_of_values_is_one_value() -> None:
    assert normalised("ask 10.0.0.1 to delete " + "blk_17 " * 80) == "ask <*> to delete blk_<*>"
    assert normalised("fans ( 1 2 3 4 )") == "fans ( <*> <*> <*> <*> )"
