"""Marks: what kind of thing happened at a step.

A record keeps no text, so what a signal must know of a text is decided here, while it is read. A reader that
knows more (a typed event, a finish reason) puts the mark into `Step.marks` itself, or gives it as `error_type`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes import mark_patterns as forms
from strategies.episodes.action_class import EDIT_TOOLS, SHELL_TOOLS
from strategies.episodes.feedback_phrases import spoken
from strategies.episodes.text_hash import bytes_key
from strategies.files.log_records import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.episodes.episode import Step

USER_INTERRUPT: Final = "user_interrupt"
PERMISSION_DENIED: Final = "permission_denied"
CONTEXT_OVERFLOW: Final = "context_overflow"
TIMEOUT: Final = "timeout"
RATE_LIMITED: Final = "rate_limited"
MISSING_CAPABILITY: Final = "missing_capability"
EDIT: Final = "edit"
REVERT: Final = "revert"
TESTS_PASSED: Final = "tests_passed"
TESTS_FAILED: Final = "tests_failed"
BUILD_PASSED: Final = "build_passed"
BUILD_FAILED: Final = "build_failed"
COMMITTED: Final = "committed:"
"""How the mark of a commit that a call made begins; its hash follows, as git abbreviates it."""
CORRECTION: Final = "correction"
EXPLICIT_CORRECTION: Final = "explicit_correction"
"""A correction that needs nothing else to bear it out; the mark goes beside that of a correction."""
THANKED: Final = "thanked"
REPEATED: Final = "repeated_request"

TROUBLES: Final = frozenset(
    [USER_INTERRUPT, PERMISSION_DENIED, CONTEXT_OVERFLOW, TIMEOUT, RATE_LIMITED, MISSING_CAPABILITY]
)
"""What happens to an agent. An `error_type` that is one of these is its mark."""

_OF_ERRORS: Final = {
    forms.TIMED_OUT: TIMEOUT,
    forms.RATE_LIMIT: RATE_LIMITED,
    forms.TOO_LONG: CONTEXT_OVERFLOW,
    forms.NOT_THERE: MISSING_CAPABILITY,
}

_EDIT_TOOLS: Final = EDIT_TOOLS | {"text_editor", "str_replace_editor", "str_replace_based_edit_tool"}
"""Tools known to change files, those with sub-commands too, in lower case."""

_EDIT_COMMANDS: Final = frozenset(["", "create", "str_replace", "insert", "append", "write"])
"""What an editor with sub-commands does when it changes a file; "" is an editor without them."""

_UNDO: Final = "undo_edit"

_COMMAND_CHARS: Final = 4000
"""How much of a command is searched: what runs the tests is within it, a here-document after it."""

_RESULT_CHARS: Final = 2000
"""How much of each end of a result is searched, as in failures.py: the middle of a long one is content."""

_SAID_CHARS: Final = 300
"""How much of a message is searched: a user who corrects says so at once, and an agent that lacks a tool too."""

_REQUEST_WORDS: Final = 3
_REQUEST_CHARS: Final = 8
"""How long a message is, in words or where there are no spaces in characters, to be a request: "go on" is none."""

NEAR_STEPS: Final = 20
"""Steps after a failure within which what worked next is looked for: some ten calls, with words (a guess)."""

_MOST_COMMITS: Final = 8
"""Commits of one call that are kept."""

_API_ERROR: Final = "API Error"
"""How Claude Code opens the message that it writes in the agent's place when the model did not answer."""


_NO_TEXT: Final = msgspec.Raw(b"")


class _Change(msgspec.Struct, gc=False):
    """The names under which editors take a file, and the text there before and after, which is only compared."""

    command: str = ""
    file_path: str = ""
    path: str = ""
    notebook_path: str = ""
    target_file: str = ""
    old_string: msgspec.Raw = _NO_TEXT
    new_string: msgspec.Raw = _NO_TEXT
    old_str: msgspec.Raw = _NO_TEXT
    new_str: msgspec.Raw = _NO_TEXT

    @property
    def file(self) -> str:
        return self.file_path or self.path or self.notebook_path or self.target_file

    @property
    def texts(self) -> tuple[bytes, bytes]:
        return bytes(self.old_string or self.old_str), bytes(self.new_string or self.new_str)


_CHANGE: Final = msgspec.json.Decoder(_Change)


def may_be_marked(tool: str, argument: str | bytes) -> bool:
    """Tell whether a call can have marks although it succeeded: the results of others need no look."""
    if tool.lower() in SHELL_TOOLS:
        return bool(forms.SHELL_DEEDS.Match(argument[:_COMMAND_CHARS]))
    return edits_files(tool)


def edits_files(tool: str) -> bool:
    """Tell whether a tool is known to change files."""
    return tool.lower() in _EDIT_TOOLS


class Marker(msgspec.Struct):
    """Marks the steps of one episode, given in order.

    It remembers, by their hashes, the files that were changed, with the first step that did, the changes, and
    what the person asked for; and which step failed last.
    """

    files: dict[str, int] = {}
    changes: set[str] = set()
    asked: set[str] = set()
    failed_at: int | None = None

    def learn(self, step: Step) -> tuple[tuple[str, ...], int]:
        """Give the marks of a step, sorted, and the first step that changed the same file (-1: none known)."""
        marks = set(step.marks)
        if step.error:
            self.failed_at = step.index
        if step.error_type in TROUBLES:
            marks.add(step.error_type)
        elif step.error or step.error_type:
            marks.update(_troubles(f"{step.error_type}\n{_ends(step.error_text)}"))
        file = step.target
        if step.kind == "call":
            if marks.isdisjoint(TROUBLES):
                deeds, changed = self._deeds(step)
                marks.update(deeds)
                file = file or changed
        elif step.kind == "message" or not marks:
            marks.update(self._request_marks(step) if step.actor == "user" else agent_marks(step.text))
        if not marks:
            return (), -1
        touched = file if not marks.isdisjoint((EDIT, REVERT)) else ""
        return tuple(sorted(marks)), self._first_change(touched, step.index)

    def is_near_failure(self, index: int) -> bool:
        """Tell whether a step failed, or one shortly before it: what these are about is worth knowing."""
        return self.failed_at is not None and abs(index - self.failed_at) <= NEAR_STEPS

    def learn_worked(self, tool: str, argument: bytes, index: int) -> tuple[tuple[str, ...], int] | None:
        """Give the same as `learn` for a call that is known to have worked; None where its result tells more."""
        if edits_files(tool):
            deeds, file = self._edited(argument)
        elif tool.lower() in SHELL_TOOLS:
            command = argument[:_COMMAND_CHARS]
            matches = forms.SHELL_DEEDS.Match(command) or ()
            if not forms.RESULT_TELLS.isdisjoint(matches):
                return None
            deeds, file = _changing_deeds(matches, command.decode("utf-8", "replace"))
        else:
            return None
        return deeds, self._first_change(file, index) if deeds else -1

    def _request_marks(self, step: Step) -> tuple[str, ...]:
        """Give the marks of what a person says; what opens a session corrects nothing, and thanks for nothing."""
        request = " ".join(step.text[:_COMMAND_CHARS].casefold().split()).strip(" .!?。！？")
        long = request.count(" ") + 1 >= _REQUEST_WORDS or (
            not request.isascii() and len(request) >= _REQUEST_CHARS
        )
        key = bytes_key(request).hex() if long else ""
        again, first = key in self.asked, not self.asked and step.index == 0
        if key:
            self.asked.add(key)
        marks = () if first else user_marks(step.text)
        return (*marks, REPEATED) if again else marks

    def _first_change(self, file: str, index: int) -> int:
        return self.files.setdefault(_file_key(file), index) if file else -1

    def _deeds(self, step: Step) -> tuple[tuple[str, ...], str]:
        tool = step.tool.lower()
        if tool in SHELL_TOOLS:
            return _shell_deeds(step)
        if tool in _EDIT_TOOLS and not step.error:
            return self._edited(step.text)
        return (), ""

    def _edited(self, argument: str | bytes) -> tuple[tuple[str, ...], str]:
        """Tell an edit from one that takes an earlier one back, by the texts before and after."""
        try:
            change = _CHANGE.decode(argument)
        except UNREADABLE:
            return (EDIT,), _patched_file(_text(argument))
        if change.command == _UNDO:
            return (REVERT,), change.file
        if change.command not in _EDIT_COMMANDS:
            return (), ""
        return (EDIT, REVERT) if self._undoes(change) else (EDIT,), change.file or _patched_file(_text(argument))

    def _undoes(self, change: _Change) -> bool:
        """Remember a change, and tell whether an earlier one was the same, the other way round."""
        before, after = change.texts
        forwards = before <= after
        texts = (before, after) if forwards else (after, before)
        key = bytes_key(b"\x1f".join((change.file.encode(errors="surrogatepass"), *texts))).hex()
        there, back = (">", "<") if forwards else ("<", ">")
        self.changes.add(key + there)
        return before != after and key + back in self.changes


def _shell_deeds(step: Step) -> tuple[tuple[str, ...], str]:
    command = step.text[:_COMMAND_CHARS]
    deeds = forms.SHELL_DEEDS.Match(command) or ()
    marks = list[str]()
    if forms.RUNS_TESTS in deeds:
        failed = step.error or forms.TESTS_FAILED.search(_ends(step.result)) is not None
        marks.append(TESTS_FAILED if failed else TESTS_PASSED)
    elif forms.BUILDS in deeds:
        failed = step.error or forms.BUILD_FAILED.search(_ends(step.result)) is not None
        marks.append(BUILD_FAILED if failed else BUILD_PASSED)
    if forms.COMMITS in deeds:
        made = forms.MADE_COMMIT.findall(_ends(step.result or step.error_text))
        marks += [f"{COMMITTED}{commit}" for commit in made[-_MOST_COMMITS:]]
    if marks:
        return tuple(marks), ""
    return ((), "") if step.error else _changing_deeds(deeds, command)


def _changing_deeds(deeds: Sequence[int], command: str) -> tuple[tuple[str, ...], str]:
    if forms.TAKES_BACK in deeds:
        return (REVERT,), ""
    return ((EDIT,), _patched_file(command)) if forms.EDITS in deeds else ((), "")


def user_marks(text: str) -> tuple[str, ...]:
    """Give the marks that what a person says is known by in its first words."""
    opening = text[:_SAID_CHARS]
    search = spoken()
    if search.explicit.search(opening):
        return (CORRECTION, EXPLICIT_CORRECTION)
    if search.corrects.search(opening) and not search.declines.search(opening):
        return (CORRECTION,)
    thanks = search.thanks.search(opening) and not search.declines.search(opening)
    return (THANKED,) if thanks else ()


def agent_marks(text: str) -> tuple[str, ...]:
    """Give the mark that a message of the agent is known by in its first words."""
    opening = text[:_SAID_CHARS]
    if opening.startswith(_API_ERROR):
        return _troubles(opening)
    # The words are looked for first: most messages lack them, and that is 20 times cheaper to tell.
    words = opening.lower()
    lacks = "i do" in words and "have" in words and forms.LACKS_TOOL.search(opening)
    return (MISSING_CAPABILITY,) if lacks else ()


def _troubles(text: str) -> tuple[str, ...]:
    return tuple(_OF_ERRORS[form] for form in forms.TROUBLES.Match(text) or ())


@lru_cache(maxsize=4096)
def _file_key(file: str) -> str:
    return bytes_key(file).hex()


def _text(argument: str | bytes) -> str:
    return argument if isinstance(argument, str) else argument.decode("utf-8", "replace")


def _patched_file(text: str) -> str:
    match = forms.PATCHED_FILE.search(text)
    return str(match[1]).strip() if match else ""


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _RESULT_CHARS else f"{text[:_RESULT_CHARS]}\n{text[-_RESULT_CHARS:]}"
