"""What makes a PostgreSQL database refuse to change events, and whether it is still what the schema made."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from events.integrity.checks import as_text
from events.postgres.migrations import STEPS, placed
from events.store.protocol import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

    from events.postgres.session import PostgresSession

_TRIGGER: Final = re.compile(r"CREATE TRIGGER (?P<name>\w+) (?:BEFORE|AFTER) \w+ ON \{at\}\.(?P<table>\w+)\s")
_FUNCTION: Final = re.compile(r"CREATE FUNCTION \{at\}\.(?P<name>\w+)\(.* AS \$\$(?P<body>.*)\$\$", re.DOTALL)

_TAKEN: Final = "SELECT max(step) FROM germline_steps"
_TRIGGERS: Final = """SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger
    WHERE tgrelid = '{}'::regclass AND NOT tgisinternal AND tgenabled IN ('O', 'A')"""
_FUNCTIONS: Final = "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = %s::regnamespace"


def altered(connection: Connection[tuple[Any, ...]], session: PostgresSession) -> Iterator[Problem]:
    """Name triggers that are gone, switched off or made otherwise, and functions that say something else."""
    ((taken,),) = connection.execute(_TAKEN).fetchall()
    steps = [statement for step in STEPS[:taken] for statement in step]
    yield from _triggers(connection, session, steps)
    yield from _functions(connection, session, steps)


def _triggers(
    connection: Connection[tuple[Any, ...]], session: PostgresSession, steps: list[str]
) -> Iterator[Problem]:
    for statement in steps:
        if not (wanted := _TRIGGER.match(statement)):
            continue
        name, table = wanted["name"], wanted["table"]
        refusing = f"the database no longer refuses to change {table}: {name}"
        there = _texts(connection, _TRIGGERS.format(table))
        # It names a function without its schema where that is the one we look in: this one.
        made = placed(session, statement.replace("FUNCTION {at}.", "FUNCTION ")).as_string(connection)
        if name not in there:
            yield Problem(0, f"{refusing} is gone or switched off")
        elif _plain(there[name]) != _plain(made):
            yield Problem(0, f"{refusing} is no longer what was made")


def _functions(
    connection: Connection[tuple[Any, ...]], session: PostgresSession, steps: list[str]
) -> Iterator[Problem]:
    there = _texts(connection, _FUNCTIONS, session.address.registry)
    for statement in steps:
        wanted = _FUNCTION.match(statement)
        if wanted and there.get(wanted["name"]) != placed(session, wanted["body"]).as_string(connection):
            yield Problem(0, f"the database was altered: {wanted['name']}() is no longer what was made")


def _texts(connection: Connection[tuple[Any, ...]], query: str, *given: str) -> dict[str, str]:
    """Return what a query answers as texts by name; the last where there are several."""
    return {as_text(name): as_text(text) for name, text in connection.execute(query, given)}


def _plain(statement: str) -> str:
    """Write a statement as PostgreSQL shows it, but for the quotes around names."""
    return " ".join(statement.replace('"', "").split())
