"""Waiting for a server: how long it asks for, and how long anybody waits for its reply."""

from __future__ import annotations

from concurrent.futures import Future, wait
from datetime import datetime
from email.utils import mktime_tz, parsedate_tz
from math import isnan
from threading import Thread
from typing import TYPE_CHECKING, Final, TypeVar

from events.clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")

_FOR_EVER_S: Final = 1e9


def asked_to_wait_s(headers: Mapping[str, str]) -> float | None:
    """Read how long a server asks to wait, in seconds or until a date; None where it does not.

    A date that no calendar holds is for ever: the SDK would fail over it.
    Source: `_parse_retry_after_header` of anthropic 2.12, which waits for 50 days where it is told to.
    """
    for name, per_s in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            wait_s = float(headers.get(name, "")) / per_s
        except ValueError:
            continue
        return None if isnan(wait_s) else min(wait_s, _FOR_EVER_S)
    try:
        date = parsedate_tz(headers.get("retry-after", ""))
        return None if date is None else min(mktime_tz(date) - _now_s(), _FOR_EVER_S)
    except (ValueError, OverflowError):
        return _FOR_EVER_S


def within(seconds: float, work: Callable[[], T]) -> T:
    """Work in a thread of its own, and wait for it no longer than this; raises TimeoutError, and what work raises.

    A server that sends a byte now and then meets every time-out of a socket, and never ends.
    """
    done: Future[T] = Future()
    Thread(target=_work, args=(work, done), daemon=True).start()  # a daemon: Ctrl-C waits for no server
    if not wait((done,), timeout=seconds).done:
        raise TimeoutError
    return done.result()


def _work(work: Callable[[], T], done: Future[T]) -> None:
    try:
        done.set_result(work())
    except BaseException as error:  # noqa: BLE001 - whoever waits for it raises it
        done.set_exception(error)


def _now_s() -> float:
    return datetime.fromisoformat(SystemClock().now()).timestamp()
