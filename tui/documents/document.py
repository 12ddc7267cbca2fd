"""The base of every document that `--json` prints, and of its parts."""

from typing import Annotated, Any, Final, Self, TypeVar

from pydantic import BeforeValidator, ConfigDict, Field

from events.types.frozen import Frozen

ABSENT: Final[Any] = object()
"""The value of a field that a document does not have this time."""

T = TypeVar("T")
Absent = Annotated[T, Field(exclude_if=lambda value: value is ABSENT)]
"""A field that some answers of a command have and others do not; its default is `ABSENT`."""
Rehearsed = Annotated[bool, Field(exclude_if=lambda value: value is False)]
"""Tells that a document is of a dry run; one that is of none does not have it."""
OrNull = Annotated[T | None, BeforeValidator(lambda value: value or None)]
"""A field that is null where what it is read from is empty: "" or 0."""
_MISSING: Final[Any] = object()


class Part(Frozen):
    """A part of a document; one of the same fields is read from any object that has them as attributes.

    A field whose name pydantic needs for itself ends with an underscore, which is left off where it is written.
    """

    model_config = ConfigDict(
        from_attributes=True,
        alias_generator=lambda name: name.removesuffix("_"),
        populate_by_name=True,
        serialize_by_alias=True,
    )

    @classmethod
    def described(cls, thing: object, **others: Any) -> Self:  # noqa: ANN401 - fields of any type
        """Describe a thing: every field that it has under the same name is read from it, but for the others."""
        own = {name: getattr(thing, name, _MISSING) for name in cls.model_fields if name not in others}
        return cls(**{name: value for name, value in own.items() if value is not _MISSING}, **others)


class Document(Part):
    """What a command prints for `--json`; its docstring describes it in the published schema.

    A subclass says first which schema it has: `schema_: Literal["germline/pick/1"] = "germline/pick/1"`.
    """

    schema_: str
