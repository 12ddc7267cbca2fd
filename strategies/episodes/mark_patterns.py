"""The forms by which tests, edits, corrections and typed troubles are known in the text of a log.

They are anchored to where a command, a message or an error line begins, so that a file that quotes one of them
is not taken for one. A shell command may be bare, or inside the JSON of a call.
"""

from __future__ import annotations

from typing import Final

import re2

_COMMAND: Final = r"""(?:^|[\n;&|(]|\\n|"(?:command|cmd)": *"|"-l?c", *")\s*"""
"""Where a command begins: a line, a part of a pipeline, or the argument of a call in JSON."""

_RUNNER: Final = (
    r"(?:[A-Za-z_]\w*=\S* +"
    r"|(?:sudo|time|env|nohup|npx|bunx|xvfb-run|coverage run -m|timeout [\w.]+|python[\d.]* -m|bundle exec"
    r"|(?:uv|poetry|pdm|hatch|rye|pipenv) run) +"
    r"|[\w./~-]*/bin/|\./)*"
)
"""What may come before the name of a test runner."""

_TEST_COMMAND: Final = (
    _COMMAND + _RUNNER + r"(?:pytest|py\.test|unittest|tox|nox|jest|vitest|mocha|ctest|rspec|phpunit"
    r"|(?:npm|yarn|pnpm|bun)(?: run)? test|playwright test|cargo nextest|make (?:test|check)"
    r"|(?:go|cargo|dotnet|mix|swift|deno|bazel|rake|rails|sbt|mvnw?|gradlew?) (?:-\S+ )*test"
    r"|python[\d.]* manage\.py test)\b"
)

_EXITS: Final = (
    r"|^\W*(?:(?:[Pp]rocess|[Cc]ommand) )?[Ee]xit(?:ed)?(?: with)?(?: code| status)[ :=]*[1-9]\d*\W*$"
    r"|[Ee]xit(?:ed)?(?: with)?(?: code| status)[ :=]*[1-9]\d*\W*\z"
)
"""An exit code on a line of its own, or as the last word."""

TESTS_FAILED: Final = re2.compile(
    r"(?m)\b[1-9]\d* (?:failed|failing|failures?)\b|^=+ .*\b[1-9]\d* errors?\b|^(?:FAILED|--- FAIL|FAIL)\b"
    r"|test result: FAILED|(?:failures|errors)=[1-9]|(?:Failures|Failed): +[1-9]" + _EXITS
)
"""A test run that ends in a failure although its exit code is hidden, by a pipe for one."""

_TAKES_BACK: Final = (
    _COMMAND + r"git (?:-C \S+ )?(?:restore (?:--worktree |-W )?[^-\s]|revert [^-]|reset (?:\S+ )*--hard\b"
    r"|apply (?:-R|--reverse)\b|checkout (?:\S+ )*(?:-- |\.(?:[\s\"]|$)))"
)

_SHELL_EDIT: Final = (
    r"\*\*\* Begin Patch|"
    + _COMMAND
    + r"(?:sed (?:-\w+ )*-i|perl -\w*i|apply_patch\b|edit \d+:\d+|git apply|patch -"
    r"|(?:cat|tee|echo|printf)\b[^|;\n]*>+ *[\w.~/-]*\w\.\w)"
)

_BUILD: Final = (
    _COMMAND
    + _RUNNER
    + r"(?:(?:npm|yarn|pnpm|bun) run (?:build|compile|type-?check|tsc)|(?:yarn|pnpm|bun|vite|next|webpack|ng"
    r"|turbo) build"
    r"|(?:go|cargo|dotnet|swift|bazel|zig|mix|stack|cabal|sbt) (?:-\S+ )*(?:build|compile|vet|check)"
    r"|cmake --build|ninja"
    r"|make(?: -\S+| \w+=\S+)*(?: all| build)?(?: *$| *[\n;&|\"\\>])|(?:mvnw?|gradlew?) (?:-\S+ )*(?:compile"
    r"|package|verify"
    r"|install|build|assemble)|docker (?:compose )?build|(?:tsc|mypy|pyright|javac|rustc|gcc|g\+\+|clang)\b"
    r"|py_compile|compileall|python[\d.]* -m build)(?:[\s\";&|\\]|$)"
)

_COMMIT: Final = _COMMAND + r"git (?:-[Cc] \S+ )*commit(?:[\s\"\\]|$)"

BUILD_FAILED: Final = re2.compile(
    r"(?m)^(?:error|fatal error|ERROR|FATAL)\b.*:|: (?:fatal )?error[: ]|BUILD FAIL|[Bb]uild failed"
    r"|error TS\d+:|npm ERR!"
    r"|make(?:\[\d+\])?: \*\*\*|[Cc]ompilation (?:failed|terminated|error)|Found [1-9]\d* errors?\b" + _EXITS
)
"""A build that ends in a failure although its exit code is hidden, by a pipe for one."""

MADE_COMMIT: Final = re2.compile(r"(?m)(?:^|\\n|\")\[[^\]\n]{1,200} ([0-9a-f]{7,40})\] ")
"""How git names the commit that it made: `[main 1a2b3c4] Subject`."""

_ROOM: Final = re2.Options()
_ROOM.max_mem = 64 << 20
"""With the usual 8 MB the states of all five are thrown away again and again, at four times the time."""

SHELL_DEEDS: Final = re2.Set.SearchSet(_ROOM)
"""Tells in one search which of these a command does: most do none."""
RUNS_TESTS: Final[int] = SHELL_DEEDS.Add(_TEST_COMMAND)
TAKES_BACK: Final[int] = SHELL_DEEDS.Add(_TAKES_BACK)
EDITS: Final[int] = SHELL_DEEDS.Add(_SHELL_EDIT)
BUILDS: Final[int] = SHELL_DEEDS.Add(_BUILD)
COMMITS: Final[int] = SHELL_DEEDS.Add(_COMMIT)
SHELL_DEEDS.Compile()
RESULT_TELLS: Final = frozenset([RUNS_TESTS, BUILDS, COMMITS])
"""Of which the result says how they went, or what they made."""

PATCHED_FILE: Final = re2.compile(r"\*\*\* (?:Update|Add|Delete) File: ([^\n\\\"]+)")

LACKS_TOOL: Final = re2.compile(
    r"(?i)\bI (?:do not|don['’]t) (?:currently )?have (?:access to )?(?:a|an|any|the)?(?: \w+){0,2}"
    r" ?\b(?:tools?|functions?|capabilit(?:y|ies)|commands?)\b"
)

_TIMED_OUT: Final = (
    r"(?im)\btim(?:ed|e)[ _-]out\b|\btimeout(?: (?:of|after|expired|exceeded|reached|error)|$|error|expired)"
    r"|\bdeadline[ _]?exceeded|\bETIMEDOUT\b|exit(?:ed)?(?: with)?(?: code| status)[ :=]*124\b"
)

_RATE_LIMIT: Final = (
    r"(?im)\brate[ _-]?limit|\btoo many requests\b|\b(?:http|status|code|error)(?: code)?[ :=]*(?:429|529)\b"
    r"|^429\b|overloaded_error|quota (?:was )?exceeded|exceeded your (?:current )?quota|resource_exhausted"
    r"|usage limit reached"
)

_TOO_LONG: Final = (
    r"(?i)context_length_exceeded|context[ _]window[ _]exceeded|maximum context length|prompt is too long"
    r"|input is too long for|exceeds? (?:the )?(?:model['’]?s? )?(?:maximum )?context|context overflow"
)

_NOT_THERE: Final = (
    r"(?i)\bcommand not found\b|no such tool available"
    r"|\b(?:unknown|unsupported|unrecognized|invalid) (?:tool|function)\b"
    r"|\btool ['\"`]?[\w.-]+['\"`]? (?:is )?(?:not found|does not exist|not available|not registered)"
    r"|\bunsupported call: |no module named|modulenotfounderror|cannot find module"
    r"|is not recognized as an internal or external|exit(?:ed)?(?: with)?(?: code| status)[ :=]*127\b"
)

TROUBLES: Final = re2.Set.SearchSet()
"""Tells in one search which of the four an error is: a fifth of the time of four searches."""
TIMED_OUT: Final[int] = TROUBLES.Add(_TIMED_OUT)
RATE_LIMIT: Final[int] = TROUBLES.Add(_RATE_LIMIT)
TOO_LONG: Final[int] = TROUBLES.Add(_TOO_LONG)
NOT_THERE: Final[int] = TROUBLES.Add(_NOT_THERE)
TROUBLES.Compile()
