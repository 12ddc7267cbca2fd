"""Action classes: the head of a call's argument, clean tool names, and whether a call changes anything.

Names from a log become part of claims and skill lines, so only short, plain names pass; others are dropped.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec
import re2

from events.types.claims import ANY, CHANGE, CHECK, HAND_IN, LOOK
from registry.evidence.redaction import without_secrets
from strategies.episodes.episode import SUBMIT
from strategies.files.log_records import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Short forms over short words: here the call of re costs a tenth of that of re2, and none can backtrack far.
_PLAIN_TOOL: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,63}")
_PLAIN_HEAD: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,31}")
_SQL_LEAD: Final = re2.compile(r"(?:\s|`|\(|;|--[^\n]*\n)*(?:(?i:sql|mysql)\s*\n)?\s*([A-Za-z]+)")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=\S*")
_COMMAND_BREAK: Final = re.compile(r"&&|\|\||[;|\n]")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SQL_TOOLS: Final = _words("sql mysql sqlite sqlite3 psql execute_sql run_sql sql_query")
SHELL_TOOLS: Final = _words(
    "bash sh shell zsh terminal execute_bash execute_command run_command local_shell container.exec "
    "run_terminal_cmd run_terminal_command_v2 run_in_terminal"
)
"""Tools known to take SQL or a shell command, in lower case: of these the class names the head of the argument."""

_SQL_READS: Final = _words("SELECT SHOW DESC DESCRIBE EXPLAIN USE SET PRAGMA WITH")
_SQL_WORDS: Final = _SQL_READS | _words(
    "INSERT UPDATE DELETE REPLACE MERGE CREATE ALTER DROP TRUNCATE RENAME GRANT REVOKE BEGIN START COMMIT "
    "ROLLBACK SAVEPOINT CALL LOAD VACUUM ANALYZE ATTACH DETACH LOCK UNLOCK"
)
LONG_FORM: Final = "DESCRIBE"
_WRAPPERS: Final = _words("sudo time timeout nohup env exec command nice")
_WITH_SUBCOMMAND: Final = _words(
    "git gh npm npx yarn pnpm pip pip3 uv poetry cargo go docker kubectl helm apt apt-get brew conda make "
    "terraform systemctl dotnet bundle rails"
)
_SHELL_READS: Final = _words(
    "ls cat head tail less more grep egrep rg find fd tree pwd wc file stat du df which type echo printf "
    "env ps date diff cmp sort uniq cut whoami id uname jq find_file search_file search_dir open goto "
    "scroll_down scroll_up"
)
KNOWN_COMMANDS: Final = _WITH_SUBCOMMAND | _SHELL_READS
"""Commands that agents are known to run, whether or not a log shows them."""
_GIT_READS: Final = _words("status log diff show branch blame grep ls-files rev-parse describe remote")
_READING_VERBS: Final = _words(
    "get list search find read show describe think calculate grep glob ls fetch view cat open lookup query "
    "check count webfetch websearch todoread notebookread"
)

HAND_IN_TOOLS: Final = frozenset(
    [SUBMIT, *("finish", "exit", "done", "answer", "final_answer", "attempt_completion", "task_complete")]
)
"""Tools by which agents end their work, in lower case."""
EDIT_TOOLS: Final = frozenset(
    [
        *("edit", "multiedit", "write", "notebookedit", "edit_file", "write_file", "create_file", "apply_patch"),
        *("replace_in_file", "write_to_file", "search_replace", "str_replace", "edit_notebook"),
    ]
)
"""Tools known to change files, in lower case; those that show files as well are not among them."""


_SQL_LOOKS: Final = _words("SHOW DESC PRAGMA .tables .schema")
"""EXPLAIN asks about a query, SELECT for what the task asks for: neither looks at what is there."""
_SQL_SETTINGS: Final = _words("BEGIN START COMMIT ROLLBACK SAVEPOINT LOCK UNLOCK ANALYZE VACUUM CALL")
_SHELL_LOOKS: Final = _words(
    "ls cat head tail less more grep egrep rg find fd tree pwd wc file stat du which type diff cmp "
    "find_file search_file search_dir open goto scroll_down scroll_up"
)
_SHELL_CHANGES: Final = _words("rm mv cp mkdir rmdir touch tee patch chmod chown ln truncate create edit insert")
_SHELL_CHECKS: Final = _words(
    "pytest tox nox jest vitest mocha mypy pyright ruff flake8 pylint eslint tsc ctest rspec phpunit shellcheck"
)
_SUB_LOOKS: Final = _words("list ls show info status describe get logs ps images view outdated")
_SUB_CHANGES: Final = _words("install add remove uninstall update upgrade apply delete create")
_SUB_CHECKS: Final = _words("test tests check lint typecheck vet clippy verify") | _SHELL_CHECKS
_GIT_OTHER: Final = _words("fetch clone config help version bisect")
_LOOK_VERBS: Final = _words(
    "get list search find read show describe grep glob ls fetch view cat open lookup webfetch websearch "
    "todoread notebookread"
)
_CHANGE_VERBS: Final = _words(
    "update create delete add set write edit book cancel send insert remove modify put post save replace rename "
    "move"
)
_CHECK_VERBS: Final = _words("test tests lint verify validate typecheck")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class _Arguments(msgspec.Struct, gc=False):
    """The names under which tools take a command or a query."""

    command: str | list[str] | None = None
    cmd: str | list[str] | None = None
    query: str | None = None
    sql: str | None = None


_WITH_COMMAND: Final = SHELL_TOOLS | SQL_TOOLS
_ARGUMENTS: Final = msgspec.json.Decoder(_Arguments)
_FIELDS: Final = msgspec.json.Decoder(dict[str, object])
_FLAG: Final = re.compile(r"--?[A-Za-z][A-Za-z0-9-]{0,31}")
_MOST_FLAGS: Final = 8
_VALUE_CHARS: Final = 200
"""Longer values of an argument are content, such as the text of a file, and say little of what a call is about."""


def command_of(tool: str, argument: str | bytes) -> str:
    """Give the command or query in the argument of a shell or SQL tool, "" for other tools."""
    if tool.lower() not in _WITH_COMMAND:
        return ""
    try:
        given = _ARGUMENTS.decode(argument)
    except UNREADABLE:
        return argument if isinstance(argument, str) else argument.decode("utf-8", "replace")
    command = given.command or given.cmd or given.query or given.sql or ""
    return command if isinstance(command, str) else command[-1]


def object_of(tool: str, argument: str | bytes) -> tuple[str, tuple[str, ...]]:
    """Give what a call is about, and the plain flags of a shell's command, without their values.

    Of a command these are its words without the names of commands and changes of folder; of other tools than
    shells and databases the short values of their arguments, without the names.
    """
    lower = tool.lower()
    if lower in SHELL_TOOLS:
        command = command_of(tool, argument)[:500]
        parts = map(_command_words, _COMMAND_BREAK.split(command))
        words = [word for words in parts if words and words[0] != "cd" for word in _objects(words)]
        flags = {_plain_flag(word.partition("=")[0]) for word in command.split() if word[0] == "-"} - {""}
        return " ".join(words), tuple(sorted(flags)[:_MOST_FLAGS])
    if lower in SQL_TOOLS:
        return command_of(tool, argument), ()
    try:
        values = _FIELDS.decode(argument).values()
    except UNREADABLE:
        return argument if isinstance(argument, str) else argument.decode("utf-8", "replace"), ()
    return " ".join([value for value in values if isinstance(value, str) and len(value) <= _VALUE_CHARS]), ()


def _objects(words: list[str]) -> list[str]:
    """Give the words of one command behind its name, and behind its subcommand where it has such."""
    skipped = 1 + (words[0].rsplit("/", 1)[-1] in _WITH_SUBCOMMAND)
    return [word for word in words if not word.startswith("-")][skipped:]


@lru_cache(maxsize=1024)
def _plain_flag(flag: str) -> str:
    """Give a flag, "" for one that is not plain."""
    return flag if _FLAG.fullmatch(flag) and without_secrets(flag) == flag else ""


@lru_cache(maxsize=1024)
def plain_tool(name: str) -> str:
    """Give a tool name that is safe in a claim, `tool` where a log calls one by a phrase."""
    name = name.replace(":", "_")
    return name if _PLAIN_TOOL.fullmatch(name) and without_secrets(name) == name else "tool"


@lru_cache(maxsize=4096)
def head_of(tool: str, argument: str) -> str:
    """Give the head of a call's argument: SQL keyword or shell command, "" for tools that have no such head."""
    tool = tool.lower()
    if tool in SQL_TOOLS:
        return sql_head(argument)
    return shell_head(argument) if tool in SHELL_TOOLS else ""


def sql_head(statement: str) -> str:
    """Give the first keyword of a statement in upper case, "" where it opens with none.

    Code fences and brackets around it are passed over.
    """
    lead = _SQL_LEAD.match(statement[:200])
    word = lead[1].upper() if lead else ""
    return in_short(word) if word in _SQL_WORDS else ""


def command_name(action: str) -> str:
    """Name the command of a shell without its subcommand, with its tool; any other class as it is."""
    tool, colon, head = action.partition(":")
    return f"{tool}:{head.partition(' ')[0]}" if colon and tool.lower() in SHELL_TOOLS else action


def in_short(action: str) -> str:
    """Give the spelling that names a class: DESCRIBE is the long form of DESC.

    Shapes: a class, or the head of one. Records and claims of earlier versions keep the long form.
    """
    tool, colon, head = action.rpartition(":")
    return f"{tool}{colon}DESC" if head == LONG_FORM else action


def shell_head(command: str) -> str:
    """Give the name of the first command that does something, with its subcommand where it has such.

    `cd …`, assignments and wrappers such as sudo before it are passed over.
    """
    for part in _COMMAND_BREAK.split(command[:500]):
        words = _command_words(part)
        if not words or words[0] == "cd":
            continue
        name = words[0].rsplit("/", 1)[-1]
        if not _is_plain(name):
            return ""
        sub = next((word for word in words[1:] if not word.startswith("-")), "")
        if name in _WITH_SUBCOMMAND and _is_plain(sub):
            return f"{name} {sub}"
        return name
    return ""


def _command_words(part: str) -> list[str]:
    words = part.split()
    while words and (words[0] in _WRAPPERS or _ASSIGNMENT.fullmatch(words[0])):
        wrapper = words.pop(0)
        while wrapper in _WRAPPERS and words and (words[0].startswith("-") or words[0][0].isdigit()):
            words.pop(0)
    return words


@lru_cache(maxsize=4096)
def writes(tool: str, head: str) -> bool:
    """Tell whether a call may change something: whatever is not known to read counts as a write."""
    tool = tool.lower()
    if tool in SQL_TOOLS:
        return head in _SQL_WORDS and head not in _SQL_READS
    if tool in SHELL_TOOLS:
        name, _, sub = head.partition(" ")
        return sub not in _GIT_READS if name == "git" else name not in _SHELL_READS
    verb = tool.rsplit("__", 1)[-1].split("_", 1)[0]
    return verb not in _READING_VERBS


def plain_head(head: str) -> str:
    """Give a head that is safe in a claim: one or two plain words, "" for anything else."""
    words = head.split()
    return in_short(" ".join(words)) if len(words) <= 2 and all(map(_is_plain, words)) else ""  # noqa: PLR2004 - command, subcommand


def _is_plain(word: str) -> bool:
    return _PLAIN_HEAD.fullmatch(word) is not None and without_secrets(word) == word


@lru_cache(maxsize=4096)
def meaning_of(action: str) -> str:
    """Give what an action class means, "" where its name does not tell."""
    tool, _, head = action.partition(":")
    tool_name = tool.lower()
    if tool_name in HAND_IN_TOOLS or head in {SUBMIT, "exit"}:
        return HAND_IN
    if tool_name in SQL_TOOLS:
        return _of_sql(tool, head)
    return _of_shell(head) if tool_name in SHELL_TOOLS else _of_tool(tool)


def is_hand_in(action: str) -> bool:
    """Tell whether an agent ends its work by an action."""
    return HAND_IN in (action, meaning_of(action))


@lru_cache(maxsize=65_536)
def is_class(action: str, named: str) -> bool:
    """Tell whether an action is of the very class, or has the meaning, that a claim names."""
    return named in {action, ANY} or (named.startswith("*:") and meaning_of(action) == named)


@lru_cache(maxsize=65_536)
def is_of(action: str, named: str) -> bool:
    """Tell whether an action is of the class or meaning that a claim names, or a subcommand or command of it.

    `Bash:npm` covers `Bash:npm ci`, and `Bash` both.
    """
    return is_class(action, named) or action.startswith((f"{named} ", f"{named}:"))


class _ActionSet(dict[str, bool]):
    """Whether actions belong to a set, each asked once: claims meet every step of every episode."""

    def __init__(self, holds: Callable[[str], bool]) -> None:
        super().__init__()
        self._holds = holds

    def __missing__(self, action: str) -> bool:
        self[action] = held = self._holds(action)
        return held


@lru_cache(maxsize=256)
def of_class(named: str) -> Mapping[str, bool]:
    """Give what `is_class` tells of any action, for those who ask about many."""
    return _ActionSet(lambda action: is_class(action, named))


@lru_cache(maxsize=256)
def covered_by(named: str) -> Mapping[str, bool]:
    """Give what `is_of` tells of any action, for those who ask about many."""
    return _ActionSet(lambda action: is_of(action, named))


def overlap(action: str, other: str) -> bool:
    """Tell whether one action can be of two classes or meanings at once."""
    return is_class(action, other) or is_class(other, action)


def is_meaning(named: str) -> bool:
    """Tell whether a claim names a meaning, or any action, rather than a class."""
    return named.startswith(ANY)


def _of_sql(tool: str, head: str) -> str:
    if head in _SQL_LOOKS:
        return LOOK
    return CHANGE if writes(tool, head) and head not in _SQL_SETTINGS else ""


def _of_shell(head: str) -> str:
    name, _, sub = head.partition(" ")
    if name == "git":
        return LOOK if sub in _GIT_READS else "" if not sub or sub in _GIT_OTHER else CHANGE
    if sub:
        return _in(sub, _SUB_LOOKS, _SUB_CHANGES, _SUB_CHECKS)
    return _in(name, _SHELL_LOOKS, _SHELL_CHANGES, _SHELL_CHECKS)


def _of_tool(tool: str) -> str:
    name = tool.rsplit("__", 1)[-1]
    if name.lower() in EDIT_TOOLS:
        return CHANGE
    verb, _, rest = "_".join(_CAMEL.split(name)).lower().partition("_")
    if verb == "run":
        verb = rest.partition("_")[0]
        return CHECK if verb in _CHECK_VERBS else ""
    return _in(verb, _LOOK_VERBS, _CHANGE_VERBS, _CHECK_VERBS)


def _in(word: str, looks: frozenset[str], changes: frozenset[str], checks: frozenset[str]) -> str:
    tables = ((LOOK, looks), (CHANGE, changes), (CHECK, checks))
    return next((meaning for meaning, words in tables if word in words), "")
