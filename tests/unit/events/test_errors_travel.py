"""Errors that are raised in another process come back as they were."""

from __future__ import annotations

import pickle

import pytest

from events.errors import (
    EditError,
    GermlineError,
    IsolationError,
    NotFoundError,
    OutOfSightError,
    UnknownPriceError,
)

ERRORS = (
    IsolationError("cannot isolate", missing=("network",), hint="allow it"),
    EditError("two matches", rule="two matches"),
    NotFoundError("no such skill", nearest=("sql-analyst",)),
    UnknownPriceError("no price", model="model-x"),
    OutOfSightError("not there", hint="mount it"),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_keeps_its_type_its_words_and_its_fields_on_the_way(error: GermlineError) -> None:
    back = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    assert type(back) is type(error)
    assert (str(back), back.__dict__) == (str(error), error.__dict__)
