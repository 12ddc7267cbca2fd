"""Documents: what is in them, what is left out, and what their published schemas promise of that."""

from __future__ import annotations

import json
from typing import Literal, NamedTuple

import pytest
from pydantic import ValidationError

from tui.documents.document import ABSENT, Absent, Document, Part, Rehearsed
from tui.documents.schemas import every_document, schema_text


class RowOfNothing(Part):
    number: int
    note: Absent[str | None] = ABSENT


class NothingDocument(Document):
    """Say nothing."""

    schema_: Literal["germline/nothing/1"] = "germline/nothing/1"
    dry_run: Rehearsed = False
    rows: tuple[RowOfNothing, ...]
    total: Absent[int] = ABSENT


class Numbered(NamedTuple):
    number: int
    aside: str


def written(document: Document) -> object:
    return document.model_dump(mode="json")


def test_what_is_absent_is_left_out_and_what_is_null_is_not() -> None:
    rows = (RowOfNothing(number=1), RowOfNothing(number=2, note=None))
    assert written(NothingDocument(rows=rows)) == {
        "schema": "germline/nothing/1",
        "rows": [{"number": 1}, {"number": 2, "note": None}],
    }


def test_only_a_dry_run_says_that_it_is_one() -> None:
    assert written(NothingDocument(dry_run=True, rows=())) == {
        "schema": "germline/nothing/1",
        "dry_run": True,
        "rows": [],
    }


def test_a_part_is_read_from_whatever_has_its_fields() -> None:
    assert RowOfNothing.model_validate(Numbered(3, "not wanted")) == RowOfNothing(number=3)


def test_an_answer_with_more_than_its_fields_is_none() -> None:
    with pytest.raises(ValidationError, match="extra_forbidden"):
        NothingDocument.model_validate({"schema": "germline/nothing/1", "rows": [], "more": 1})


def test_a_schema_requires_what_is_always_there_and_lets_answers_grow() -> None:
    schema = json.loads(schema_text(NothingDocument))
    assert schema["required"] == ["schema", "rows"]
    assert schema["$defs"]["RowOfNothing"]["required"] == ["number"]
    assert "additionalProperties" not in schema
    assert schema["description"] == "Say nothing."
    assert schema["properties"]["schema"]["const"] == schema["$id"] == "germline/nothing/1"


@pytest.mark.parametrize("name", every_document())
def test_a_document_says_first_what_it_is(name: str) -> None:
    document = every_document()[name]
    assert next(iter(document.model_fields)) == "schema_"
    assert document.model_fields["schema_"].default == f"germline/{name}/1"
    assert document.__doc__
