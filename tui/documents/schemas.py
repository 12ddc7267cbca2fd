"""The published schemas of what `--json` prints, made from its models."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Final

from pydantic.json_schema import GenerateJsonSchema

from tui import documents
from tui.documents.document import Document

if TYPE_CHECKING:
    from collections.abc import Mapping

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_WIDTH: Final = 115
_UNSAID: Final = {"default", "description", "title"}
"""What parts of a schema leave out: answers have all fields, and docstrings are for readers of the code."""


@cache
def every_document() -> dict[str, type[Document]]:
    """Return the model of every document by its name: `candidate-show`."""
    modules = [import_module(module.name) for module in iter_modules(documents.__path__, f"{documents.__name__}.")]
    models = {
        model.model_fields["schema_"].default: model
        for module in modules
        for model in vars(module).values()
        if isinstance(model, type) and issubclass(model, Document) and model is not Document
    }
    return {schema.split("/")[1]: models[schema] for schema in sorted(models)}


def schema_text(document: type[Document]) -> str:
    """Write the schema of a document."""
    made = document.model_json_schema(mode="serialization", schema_generator=_Published)
    schema = document.model_fields["schema_"].default
    head = {
        "$schema": _DIALECT,
        "$id": schema,
        "title": f"germline {schema.split('/')[1]}",
        "description": made.pop("description"),
    }
    return f"{_laid_out(head | _plain(made))}\n"


class _Published(GenerateJsonSchema):
    """Says of each field whether an answer always has it."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - as its base declares it

    def field_is_required(
        self,
        field: Mapping[str, object],
        total: bool,  # noqa: ARG002, FBT001 - as its base declares it
    ) -> bool:
        return "serialization_exclude_if" not in field

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 - as its base declares it
        return False


def _plain(schema: Any, *, of_names: bool = False) -> Any:  # noqa: ANN401 - JSON
    """Leave out what is unsaid, and that no more fields may come: answers grow."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _plain(part, of_names=not of_names and key in {"properties", "$defs"})
        for key, part in schema.items()
        if of_names or (key not in _UNSAID and (key, part) != ("additionalProperties", False))
    }


def _laid_out(value: Any, indent: str = "") -> str:  # noqa: ANN401 - JSON
    """Write JSON, what fits into a line in one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= _WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = f"{indent} "
    if isinstance(value, list):
        rows, ends = [_laid_out(part, inner) for part in value], "[]"
    else:
        rows = [f"{json.dumps(key)}: {_laid_out(part, inner)}" for key, part in value.items()]
        ends = "{}"
    body = ",\n".join(f"{inner}{row}" for row in rows)
    return f"{ends[0]}\n{body}\n{indent}{ends[1]}"
