"""Keys: every binding of the screens in one place; each has an id to be remapped by, and a tooltip."""

from __future__ import annotations

from typing import Final

from textual.binding import Binding

_VERSIONS: Final = Binding.Group("version", compact=True)
_EARLIER: Final = Binding.Group("before", compact=True)
_CAUSES: Final = Binding.Group("cause", compact=True)


def _key(
    keys: str,
    action: str,
    name: str,
    tooltip: str,
    key_id: str,
    shown: str | None = None,
    group: Binding.Group | None = None,
) -> Binding:
    """Make a binding; it is in the bottom line where `shown` says how its key is written."""
    show = shown is not None
    return Binding(keys, action, name, show=show, key_display=shown, tooltip=tooltip, id=key_id, group=group)


def _labels(where: str) -> tuple[Binding, Binding]:
    """Make the keys that say how a session ended."""
    return (
        _key("u", "label('good')", "good", "say that this session ended well", f"{where}.good", "u"),
        _key("d", "label('bad')", "bad", "say that this session failed", f"{where}.bad", "d"),
    )


MOVES: Final = [
    _key("j,down", "move(1)", "down", "one row down", "move.down"),
    _key("k,up", "move(-1)", "up", "one row up", "move.up"),
    _key("ctrl+d,pagedown", "page(1)", "page down", "half a page down", "move.page_down"),
    _key("ctrl+u,pageup", "page(-1)", "page up", "half a page up", "move.page_up"),
    _key("g,home", "edge(-1)", "top", "to the first row", "move.top"),
    _key("G,end", "edge(1)", "bottom", "to the last row", "move.bottom"),
]

QUIT: Final = _key("Q,ctrl+q,ctrl+c", "app.quit", "quit", "leave germline", "app.quit")
"""The keys of a screen alone work on what opens above it, so that has this one as well."""

APP: Final = [
    _key("1", "view('skills')", "skills", "all skills with their scores", "view.skills"),
    _key("2", "view('history')", "history", "the events of this skill, or of all", "view.history"),
    _key("3", "view('why')", "why", "the skill line by line, and why each line is there", "view.why"),
    _key("4", "view('signals')", "signals", "what the logs show, and what it leads to", "view.signals"),
    _key("5,p", "view('presets')", "presets", "the numbers, and what each would pick next", "view.presets"),
    _key("6", "view('review')", "review", "what waits for a person's word", "view.review"),
    _key("7", "view('sessions')", "sessions", "what agents did, session by session", "view.sessions"),
    _key("8", "view('usage')", "usage", "which lines earn their place", "view.usage"),
    _key("9", "view('start')", "start", "what costs most, and which line says so", "view.start"),
    _key("0", "view('audits')", "audits", "what evaluators report of a skill", "view.audits"),
    _key("left_square_bracket", "walk(-1)", "back", "where you were before", "trail.back"),
    _key("right_square_bracket", "walk(1)", "forward", "where you were before you went back", "trail.forward"),
    _key("colon,ctrl+p", "command_palette", "commands", "themes, skills and commands by name", "app.palette"),
    _key("question_mark", "keys", "help", "every key that works here, and what the words mean", "app.help", "?"),
    QUIT,
]

SCREEN: Final = [
    _key("tab", "next_pane(1)", "pane", "to the next pane", "pane.next"),
    _key("shift+tab", "next_pane(-1)", "pane back", "to the pane before", "pane.previous"),
    _key("y", "copy_id", "copy id", "copy the id of what the cursor is on", "copy.id"),
    _key("Y", "copy_command", "copy command", "copy the command that shows this", "copy.command"),
    _key("U", "copy_address", "copy address", "copy the command that opens this place here", "copy.address"),
    _key("plus", "resize(1)", "larger", "give the first pane more room", "pane.larger"),
    _key("underscore", "resize(-1)", "smaller", "give the first pane less room", "pane.smaller"),
    _key("z", "undo", "undo", "take the last change back, by a new event", "change.undo"),
    _key("Z", "redo", "redo", "take the last undo back, by a new event", "change.redo"),
    _key("escape", "leave", "back", "back to where you came from", "view.leave"),
]

FILTER: Final = _key("slash", "find", "filter", "show only rows that hold a text", "find.open", "/")
SEARCH: Final = _key("slash", "find", "search", "go to the next line that holds a text", "find.open")

_TRENDS: Final = "scores, tasks, obedience and size by version"
TRENDS_OF: Final = _key("t", "app.view('trends')", "trends", _TRENDS, "view.trends", "t")

CLOSE: Final = _key("q", "close", "close", "close this view; the last one quits", "view.close", "q")
CLOSE_QUIETLY: Final = _key("q", "close", "close", "close this view", "view.close")
"""The same where the bottom line is full."""

SKILLS: Final = [
    _key("enter", "open", "history", "the history of this skill", "skills.open", "enter"),
    _key("b", "why", "why", "this skill line by line", "skills.why", "b"),
    _key("d", "diff", "diff", "the newest version against the one before", "skills.diff", "d"),
    _key("e", "evidence", "evidence", "the log records behind the newest version", "skills.evidence"),
    _key("A", "adopt", "adopt", "take in what was edited in the files of this skill", "skills.adopt"),
    TRENDS_OF,
    FILTER,
    CLOSE,
]

HISTORY: Final = [
    _key(
        "enter", "open", "events", "the events of this change, or the change alone again", "history.open", "enter"
    ),
    _key("b", "why", "why", "the skill as this event left it, line by line", "history.why", "b"),
    _key("left,h", "travel(-1)", "older", "to the version before", "history.older", "←", _VERSIONS),
    _key("right,l", "travel(1)", "newer", "to the version after", "history.newer", "→", _VERSIONS),
    _key("d", "diff", "diff", "the whole change; of two marked versions if two are marked", "history.diff", "d"),
    _key("space", "mark", "mark", "mark a version to compare; two at most", "history.mark", "space"),
    _key("e", "evidence", "evidence", "the log records behind this event, in full", "history.evidence"),
    TRENDS_OF,
    _key("a", "every", "all", "events of this skill, or of the whole registry", "history.every", "a"),
    _key("R", "revert", "revert", "go back to the version under the cursor", "history.revert"),
    FILTER,
    CLOSE_QUIETLY,
]

WHY: Final = [
    _key("enter,e", "evidence", "evidence", "the log records behind this line, in full", "why.evidence", "enter"),
    _key("comma", "before", "before", "what this line said before", "why.before", ",", _EARLIER),
    _key("less_than_sign", "return", "return", "return to what it says later", "why.return", "<", _EARLIER),
    _key("left,h", "travel(-1)", "older", "the skill one version earlier", "why.older", "←", _VERSIONS),
    _key("right,l", "travel(1)", "newer", "the skill one version later", "why.newer", "→", _VERSIONS),
    _key(
        "left_curly_bracket",
        "cause(-1)",
        "cause",
        "one step back along the chain of causes",
        "why.cause",
        "{",
        _CAUSES,
    ),
    _key(
        "right_curly_bracket",
        "cause(1)",
        "effect",
        "one step on along the chain, up to the line",
        "why.effect",
        "}",
        _CAUSES,
    ),
    _key("d", "diff", "diff", "the change that brought this line", "why.diff", "d"),
    _key("s", "same", "signal", "what else came of the same signal", "why.same", "s"),
    _key("r", "tried", "tried", "what was tried here, and rejected", "why.tried", "r"),
    _key("n", "match(1)", "next", "to the next line that matches", "find.next"),
    _key("N", "match(-1)", "previous", "to the line before that matches", "find.previous"),
    _key("t", "app.view('trends')", "trends", _TRENDS, "why.trends"),
    SEARCH,
    CLOSE_QUIETLY,
]

SIGNALS: Final = [
    _key("enter", "open", "open", "all about this, and the sessions that show it", "signals.open", "enter"),
    _key("e", "evidence", "evidence", "the log records behind this, in full", "signals.evidence", "e"),
    _key("b", "why", "why", "the line that answers this", "signals.why", "b"),
    _key("r", "tried", "tried", "all that was tried for this", "signals.tried", "r"),
    _key(
        "o",
        "next_state",
        "state",
        "what is open alone, then what waits, what is answered, all",
        "signals.state",
        "o",
    ),
    _key("f", "same_kind", "kind", "what is called as this alone, or all", "signals.kind", "f"),
    _key("s", "same_skill", "skill", "what goes to this skill alone, or all", "signals.skill"),
    _key("t", "order", "newest", "the newest first, or what costs most", "signals.order"),
    FILTER,
    CLOSE,
]

SESSIONS: Final = [
    _key("enter", "open", "steps", "this session step by step", "sessions.open", "enter"),
    *_labels("sessions"),
    _key("i", "label('unsure')", "unsure", "leave this session without a label", "sessions.unsure"),
    _key(
        "l", "waiting_first", "queue", "those whose label would decide most alone, or all", "sessions.queue", "l"
    ),
    _key("o", "only_failed", "failed", "failed sessions alone, or all", "sessions.failed", "o"),
    _key("n", "only_unlabelled", "unlabelled", "sessions without an outcome alone, or all", "sessions.unlabelled"),
    _key("f", "same_project", "project", "sessions of this folder alone, or all", "sessions.project"),
    FILTER,
    CLOSE,
]

USAGE: Final = [
    _key("enter,b", "why", "why", "the line in its skill, and why it is there", "usage.why", "enter"),
    _key(
        "o", "only_witnessed", "witnessed", "lines of which logs could tell alone, or all", "usage.witnessed", "o"
    ),
    FILTER,
    CLOSE,
]

AUDITS: Final = [
    _key(
        "enter,b", "candidate", "candidate", "the candidate that the audit ended with", "audits.candidate", "enter"
    ),
    FILTER,
    CLOSE,
]

START: Final = [
    _key("y", "take", "take", "take the line, as seen", "start.take", "y"),
    _key("n", "refuse", "refuse", "refuse the line for good", "start.refuse", "n"),
    _key("e", "edit", "edit", "take the line in your own words", "start.edit", "e"),
    _key("s,enter", "sessions", "sessions", "the sessions that show it", "start.sessions", "s"),
    FILTER,
    CLOSE,
]

PRESETS: Final = [
    _key("enter,u", "use", "use", "let this preset bind from here on", "presets.use", "enter"),
    FILTER,
    CLOSE,
]

REVIEW: Final = [
    _key("a", "decide('yes')", "approve", "approve it, or agree with it", "review.approve", "a"),
    _key("x", "decide('no')", "reject", "reject it, or disagree with it", "review.reject", "x"),
    _key("d", "diff", "diff", "the whole text that it would make", "review.diff", "d"),
    _key("enter,e", "evidence", "evidence", "the log records behind it, in full", "review.evidence", "enter"),
    _key("s", "same", "signal", "the signal that it answers", "review.same", "s"),
    _key("b", "why", "why", "the skill line by line", "review.why", "b"),
    FILTER,
    CLOSE,
]

TRENDS: Final = [
    _key("enter,e", "runs", "runs", "the runs behind this cell", "trends.runs", "enter"),
    _key("left,h", "travel(-1)", "older", "one version to the left", "trends.older", "←", _VERSIONS),
    _key("right,l", "travel(1)", "newer", "one version to the right", "trends.newer", "→", _VERSIONS),
    _key("b", "why", "why", "the skill line by line, at this version", "trends.why", "b"),
    _key("d", "diff", "diff", "what this version changed", "trends.diff", "d"),
    FILTER,
    CLOSE,
]

ASK: Final = [
    _key("enter", "append", "append", "append these events", "ask.append", "enter"),
    _key("e", "reword", "reword", "change the reason", "ask.reword", "e"),
    _key("escape", "close", "cancel", "change nothing", "ask.cancel", "esc"),
    QUIT,
]

LINE: Final = [
    _key("escape", "close", "cancel", "leave the line as it is", "line.cancel", "esc"),
    QUIT,
]

SHEET: Final = [
    _key("escape,q,enter", "close", "close", "back to the screen below", "sheet.close", "esc"),
    QUIT,
]

COMMAND: Final = [
    _key("enter", "run", "run", "run this command", "command.run", "enter"),
    _key("x", "stop", "stop", "interrupt the command; what it appended is kept", "command.stop", "x"),
    _key("escape,q", "close", "close", "back to the screen below", "command.close", "esc"),
    QUIT,
]

SIGNAL: Final = [
    _key("enter", "open", "session", "this session, among all of them", "signal.open", "enter"),
    _key("escape,q", "close", "close", "back to the signals", "signal.close", "esc"),
    QUIT,
]

TRANSCRIPT: Final = [
    *_labels("transcript"),
    _key("n", "error(1)", "next error", "to the next step that failed", "transcript.next", "n"),
    _key("N", "error(-1)", "error before", "to the step before that failed", "transcript.previous", "N"),
]

HELP: Final = [
    _key("down,pagedown", "scroll(1)", "down", "further down the list", "help.down"),
    _key("up,pageup", "scroll(-1)", "up", "further up the list", "help.up"),
]

ON_SCREENS: Final = {
    "skills": SKILLS,
    "history": HISTORY,
    "why": WHY,
    "signals": SIGNALS,
    "sessions": SESSIONS,
    "usage": USAGE,
    "start": START,
    "audits": AUDITS,
    "presets": PRESETS,
    "review": REVIEW,
    "trends": TRENDS,
}
"""The keys that each screen has of its own, beside APP, SCREEN and MOVES."""

OVER_SCREENS: Final = {
    "ask": ASK,
    "line": LINE,
    "sheet": SHEET,
    "command": COMMAND,
    "signal": SIGNAL,
    "transcript": TRANSCRIPT,
    "help": HELP,
}
"""The keys of what opens above a screen."""
