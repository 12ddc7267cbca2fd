"""Action classes: the head of a call's argument, clean tool names, and whether a call changes anything.

Names from a log become part of claims and skill lines, so only short, plain names pass; others are dropped.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import re2

from registry.evidence.redaction import without_secrets

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


@lru_cache(maxsize=65_536)
def is_of(action: str, named: str) -> bool:
    """Tell whether an action is of the class that a claim names, or a subcommand or command of it.

    `Bash:npm` covers `Bash:npm ci`, and `Bash` both.
    """
    return action == named or action.startswith((f"{named} ", f"{named}:"))
