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
    *,
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
        _key("u", "label('good')", "good", "say that this session ended well", key_id=f"{where}.good", shown="u"),
        _key("d", "label('bad')", "bad", "say that this session failed", key_id=f"{where}.bad", shown="d"),
    )


MOVES: Final = [
    _key("j,down", "move(1)", "down", "one row down", key_id="move.down"),
    _key("k,up", "move(-1)", "up", "one row up", key_id="move.up"),
    _key("ctrl+d,pagedown", "page(1)", "page down", "half a page down", key_id="move.page_down"),
    _key("ctrl+u,pageup", "page(-1)", "page up", "half a page up", key_id="move.page_up"),
    _key("g,home", "edge(-1)", "top", "to the first row", key_id="move.top"),
    _key("G,end", "edge(1)", "bottom", "to the last row", key_id="move.bottom"),
]

QUIT: Final = _key("Q,ctrl+q,ctrl+c", "app.quit", "quit", "leave germline", key_id="app.quit")
"""The keys of a screen alone work on what opens above it, so that has this one as well."""

APP: Final = [
    _key("1", "view('skills')", "skills", "all skills with their scores", key_id="view.skills"),
    _key("2", "view('history')", "history", "the events of this skill, or of all", key_id="view.history"),
    _key("3", "view('why')", "why", "the skill line by line, and why each line is there", key_id="view.why"),
    _key("4", "view('signals')", "signals", "what the logs show, and what it leads to", key_id="view.signals"),
    _key("5,p", "view('presets')", "presets", "the numbers, and what each would pick next", key_id="view.presets"),
    _key("6", "view('review')", "review", "what waits for a person's word", key_id="view.review"),
    _key("7", "view('sessions')", "sessions", "what agents did, session by session", key_id="view.sessions"),
    _key("8", "view('usage')", "usage", "which lines earn their place", key_id="view.usage"),
    _key("left_square_bracket", "walk(-1)", "back", "where you were before", key_id="trail.back"),
    _key(
        "right_square_bracket", "walk(1)", "forward", "where you were before you went back", key_id="trail.forward"
    ),
    _key(
        "colon,ctrl+p", "command_palette", "commands", "themes, skills and commands by name", key_id="app.palette"
    ),
    _key("question_mark", "keys", "help", "every key that works here, filterable", key_id="app.help", shown="?"),
    QUIT,
]

SCREEN: Final = [
    _key("tab", "next_pane(1)", "pane", "to the next pane", key_id="pane.next"),
    _key("shift+tab", "next_pane(-1)", "pane back", "to the pane before", key_id="pane.previous"),
    _key("y", "copy_id", "copy id", "copy the id of what the cursor is on", key_id="copy.id"),
    _key("Y", "copy_command", "copy command", "copy the command that shows this", key_id="copy.command"),
    _key(
        "U", "copy_address", "copy address", "copy the command that opens this place here", key_id="copy.address"
    ),
    _key("plus", "resize(1)", "larger", "give the first pane more room", key_id="pane.larger"),
    _key("underscore", "resize(-1)", "smaller", "give the first pane less room", key_id="pane.smaller"),
    _key("z", "undo", "undo", "take the last change back, by a new event", key_id="change.undo"),
    _key("Z", "redo", "redo", "take the last undo back, by a new event", key_id="change.redo"),
    _key("escape", "leave", "back", "back to where you came from", key_id="view.leave"),
]

FILTER: Final = _key("slash", "find", "filter", "show only rows that hold a text", key_id="find.open", shown="/")
SEARCH: Final = _key("slash", "find", "search", "go to the next line that holds a text", key_id="find.open")

_TOLD: Final = "scores, tasks, obedience and size by version"
TRENDS_OF: Final = _key("t", "app.view('trends')", "trends", _TOLD, key_id="view.trends", shown="t")
TRENDS_QUIETLY: Final = _key("t", "app.view('trends')", "trends", _TOLD, key_id="view.trends")

CLOSE: Final = _key("q", "close", "close", "close this view; the last one quits", key_id="view.close", shown="q")
CLOSE_QUIETLY: Final = _key("q", "close", "close", "close this view", key_id="view.close")
"""The same where the bottom line is full."""

SKILLS: Final = [
    _key("enter", "open", "history", "the history of this skill", key_id="skills.open", shown="enter"),
    _key("b", "why", "why", "this skill line by line", key_id="skills.why", shown="b"),
    _key("d", "diff", "diff", "the newest version against the one before", key_id="skills.diff", shown="d"),
    _key("e", "evidence", "evidence", "the log records behind the newest version", key_id="skills.evidence"),
    TRENDS_OF,
    FILTER,
    CLOSE,
]

HISTORY: Final = [
    _key(
        "enter,b",
        "why",
        "why",
        "the skill as this event left it, line by line",
        key_id="history.why",
        shown="enter",
    ),
    _key(
        "left,h",
        "travel(-1)",
        "older",
        "to the version before",
        key_id="history.older",
        shown="←",
        group=_VERSIONS,
    ),
    _key(
        "right,l", "travel(1)", "newer", "to the version after", key_id="history.newer", shown="→", group=_VERSIONS
    ),
    _key(
        "d",
        "diff",
        "diff",
        "the whole change; of two marked versions if two are marked",
        key_id="history.diff",
        shown="d",
    ),
    _key("space", "mark", "mark", "mark a version to compare; two at most", key_id="history.mark", shown="space"),
    _key("e", "evidence", "evidence", "the log records behind this event, in full", key_id="history.evidence"),
    TRENDS_OF,
    _key("a", "every", "all", "events of this skill, or of the whole registry", key_id="history.every", shown="a"),
    _key("R", "revert", "revert", "go back to the version under the cursor", key_id="history.revert"),
    FILTER,
    CLOSE,
]

WHY: Final = [
    _key(
        "enter,e",
        "evidence",
        "evidence",
        "the log records behind this line, in full",
        key_id="why.evidence",
        shown="enter",
    ),
    _key(
        "comma", "before", "before", "what this line said before", key_id="why.before", shown=",", group=_EARLIER
    ),
    _key(
        "less_than_sign",
        "return",
        "return",
        "return to what it says later",
        key_id="why.return",
        shown="<",
        group=_EARLIER,
    ),
    _key(
        "left,h",
        "travel(-1)",
        "older",
        "the skill one version earlier",
        key_id="why.older",
        shown="←",
        group=_VERSIONS,
    ),
    _key(
        "right,l",
        "travel(1)",
        "newer",
        "the skill one version later",
        key_id="why.newer",
        shown="→",
        group=_VERSIONS,
    ),
    _key(
        "left_curly_bracket",
        "cause(-1)",
        "cause",
        "one step back along the chain of causes",
        key_id="why.cause",
        shown="{",
        group=_CAUSES,
    ),
    _key(
        "right_curly_bracket",
        "cause(1)",
        "effect",
        "one step on along the chain, up to the line",
        key_id="why.effect",
        shown="}",
        group=_CAUSES,
    ),
    _key("d", "diff", "diff", "the change that brought this line", key_id="why.diff", shown="d"),
    _key("s", "same", "signal", "what else came of the same signal", key_id="why.same", shown="s"),
    _key("r", "tried", "tried", "what was tried here, and rejected", key_id="why.tried", shown="r"),
    _key("n", "match(1)", "next", "to the next line that matches", key_id="find.next"),
    _key("N", "match(-1)", "previous", "to the line before that matches", key_id="find.previous"),
    _key("t", "app.view('trends')", "trends", "scores, tasks, obedience and size by version", key_id="why.trends"),
    SEARCH,
    CLOSE_QUIETLY,
]

SIGNALS: Final = [
    _key(
        "enter,e",
        "evidence",
        "evidence",
        "the log records behind this signal, in full",
        key_id="signals.evidence",
        shown="enter",
    ),
    _key("b", "why", "why", "the line that answers this signal", key_id="signals.why", shown="b"),
    _key("r", "tried", "tried", "all that was tried for this signal", key_id="signals.tried", shown="r"),
    _key("o", "only_open", "open", "open signals alone, or all of them", key_id="signals.open", shown="o"),
    _key("t", "order", "newest", "the newest first, or the most severe", key_id="signals.order", shown="t"),
    FILTER,
    CLOSE,
]

SESSIONS: Final = [
    _key("enter", "open", "steps", "this session step by step", key_id="sessions.open", shown="enter"),
    *_labels("sessions"),
    _key("i", "label('unsure')", "unsure", "leave this session without a label", key_id="sessions.unsure"),
    _key(
        "l",
        "waiting_first",
        "queue",
        "those whose label would decide most alone, or all",
        key_id="sessions.queue",
        shown="l",
    ),
    _key("o", "only_failed", "failed", "failed sessions alone, or all", key_id="sessions.failed", shown="o"),
    _key(
        "n",
        "only_unlabelled",
        "unlabelled",
        "sessions without an outcome alone, or all",
        key_id="sessions.unlabelled",
    ),
    _key("f", "same_project", "project", "sessions of this folder alone, or all", key_id="sessions.project"),
    FILTER,
    CLOSE,
]

USAGE: Final = [
    _key("enter,b", "why", "why", "the line in its skill, and why it is there", key_id="usage.why", shown="enter"),
    _key(
        "o",
        "only_witnessed",
        "witnessed",
        "lines of which logs could tell alone, or all",
        key_id="usage.witnessed",
        shown="o",
    ),
    FILTER,
    CLOSE,
]

PRESETS: Final = [
    _key("enter,u", "use", "use", "let this preset bind from here on", key_id="presets.use", shown="enter"),
    FILTER,
    CLOSE,
]

REVIEW: Final = [
    _key("a", "decide('yes')", "approve", "approve it, or agree with it", key_id="review.approve", shown="a"),
    _key("x", "decide('no')", "reject", "reject it, or disagree with it", key_id="review.reject", shown="x"),
    _key("d", "diff", "diff", "the whole text that it would make", key_id="review.diff", shown="d"),
    _key(
        "enter,e",
        "evidence",
        "evidence",
        "the log records behind it, in full",
        key_id="review.evidence",
        shown="enter",
    ),
    _key("s", "same", "signal", "the signal that it answers", key_id="review.same", shown="s"),
    _key("b", "why", "why", "the skill line by line", key_id="review.why", shown="b"),
    FILTER,
    CLOSE,
]

TRENDS: Final = [
    _key("enter,e", "runs", "runs", "the runs behind this cell", key_id="trends.runs", shown="enter"),
    _key(
        "left,h",
        "travel(-1)",
        "older",
        "one version to the left",
        key_id="trends.older",
        shown="←",
        group=_VERSIONS,
    ),
    _key(
        "right,l",
        "travel(1)",
        "newer",
        "one version to the right",
        key_id="trends.newer",
        shown="→",
        group=_VERSIONS,
    ),
    _key("b", "why", "why", "the skill line by line, at this version", key_id="trends.why", shown="b"),
    _key("d", "diff", "diff", "what this version changed", key_id="trends.diff", shown="d"),
    FILTER,
    CLOSE,
]

ASK: Final = [
    _key("enter", "append", "append", "append these events", key_id="ask.append", shown="enter"),
    _key("e", "reword", "reword", "change the reason", key_id="ask.reword", shown="e"),
    _key("escape", "close", "cancel", "change nothing", key_id="ask.cancel", shown="esc"),
    QUIT,
]

SHEET: Final = [
    _key("escape,q,enter", "close", "close", "back to the screen below", key_id="sheet.close", shown="esc"),
    QUIT,
]

TRANSCRIPT: Final = [
    *_labels("transcript"),
    _key("n", "error(1)", "next error", "to the next step that failed", key_id="transcript.next", shown="n"),
    _key(
        "N", "error(-1)", "error before", "to the step before that failed", key_id="transcript.previous", shown="N"
    ),
]

HELP: Final = [
    _key("down,pagedown", "scroll(1)", "down", "further down the list", key_id="help.down"),
    _key("up,pageup", "scroll(-1)", "up", "further up the list", key_id="help.up"),
]

ON_SCREENS: Final = {
    "skills": SKILLS,
    "history": HISTORY,
    "why": WHY,
    "signals": SIGNALS,
    "sessions": SESSIONS,
    "usage": USAGE,
    "presets": PRESETS,
    "review": REVIEW,
    "trends": TRENDS,
}
"""The keys that each screen has of its own, beside APP, SCREEN and MOVES."""

OVER_SCREENS: Final = {"ask": ASK, "sheet": SHEET, "transcript": TRANSCRIPT, "help": HELP}
"""The keys of what opens above a screen."""
