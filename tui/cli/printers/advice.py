"""Advice as it was given last, in a line for each skill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.clock import SystemClock
from tui.cli.output.color import width
from tui.text.numbers import age, share
from tui.text.terminal_text import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strategies.advice.advise import Given
    from tui.cli.output.invocation import Invocation


def print_advice(call: Invocation, advice: Mapping[str, Given]) -> None:
    """Print the track that was advised for each skill, what a model answered beside it, and how long ago."""
    now = SystemClock().now()
    for at, (skill, given) in enumerate(sorted(advice.items())):
        event = given.event
        reading = event.reading
        beside = f"; model: {reading.track} ({share(reading.confidence)})" if reading else ""
        reason = f": {event.reasons[0]}" if event.reasons else ""
        text = f"{skill or 'all runs'}: {event.track}{beside}, {age(given.at, now)}{one_line(reason)}"
        call.say(clip(f"{'' if at else 'advice':<10} {text}", width()))
