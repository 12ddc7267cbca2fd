"""Reading in the background: workers of a screen, of which the last one of its group counts."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from textual import work
from textual.css.query import NoMatches
from textual.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from textual.worker import Worker

P = ParamSpec("P")
S = TypeVar("S", bound=Screen[None])


def reading(
    group: str, *, exclusive: bool = True
) -> Callable[
    [Callable[Concatenate[S, P], Coroutine[None, None, None]]], Callable[Concatenate[S, P], Worker[None]]
]:
    """Run a method of a screen as a worker; a screen that was closed meanwhile has nothing to show it on."""

    def as_worker(
        method: Callable[Concatenate[S, P], Coroutine[None, None, None]],
    ) -> Callable[Concatenate[S, P], Worker[None]]:
        @work(group=group, exclusive=exclusive)
        @wraps(method)
        async def run(self: S, *args: P.args, **kwargs: P.kwargs) -> None:
            try:
                await method(self, *args, **kwargs)
            except NoMatches:
                if self.query("#top"):
                    raise

        return run

    return as_worker
