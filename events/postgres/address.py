"""Where a registry on PostgreSQL is: an address of libpq, with the name of the registry in its database.

`postgresql://user@host:port/database?registry=team`. All that libpq knows may stand in the query too (host,
sslmode, service …); the password may be left to PGPASSWORD or ~/.pgpass.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final
from urllib.parse import parse_qsl, quote, unquote

from events.errors import UsageError

SCHEMES: Final = ("postgresql", "postgres")
DEFAULT: Final = "germline"
"""The registry that an address means which names none."""

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,47}")
"""A registry is a PostgreSQL schema; its name needs no quotes, and leaves room in the 63 bytes of a channel."""

_HOST: Final = re.compile(r"(?:\[([^\]]*)\]|([^:\[\]]*))(?::([0-9]*))?")
_SHOWN: Final = ("host", "port")
"""What of the query an address still shows; the rest may be secret."""


@dataclass(frozen=True, slots=True)
class PostgresAddress:
    """A registry in a database; written out, it shows no password.

    Shapes: `options` are keywords of libpq with their values.
    """

    registry: str
    options: tuple[tuple[str, str], ...] = field(repr=False)

    @classmethod
    def parse(cls, stated: str) -> PostgresAddress:
        """Read an address; raises UsageError, which repeats none of it: a password may be anywhere in it."""
        scheme, _, rest = stated.partition("://")
        place, _, query = rest.partition("?")
        authority, slash, database = place.partition("/")
        if scheme not in SCHEMES or "#" in rest or "@" in database:
            raise _unreadable()
        try:
            options = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
        except ValueError:
            raise _unreadable() from None
        registry = options.pop("registry", DEFAULT)
        if not _NAME.fullmatch(registry) or registry.startswith("pg_"):
            raise UsageError(
                f"{registry!r} is no name for a registry on PostgreSQL",
                hint="begin with a letter; then small letters, digits and _, 48 characters at most; not pg_…",
            )
        named = {**_login(authority), **({"dbname": unquote(database)} if slash and database else {}), **options}
        return cls(registry, tuple(named.items()))

    def __str__(self) -> str:
        known = dict(self.options)
        in_place = "/" not in known.get("host", "") and not {"host", "port"} & self._listed
        login = f"{quote(known['user'])}@" if "user" in known else ""
        place = _joined(known) if in_place else ""
        query = [] if in_place else [f"{key}={quote(known[key])}" for key in _SHOWN if key in known]
        query += [f"registry={self.registry}"] if self.registry != DEFAULT else []
        database = quote(known.get("dbname", ""))
        return f"postgresql://{login}{place}/{database}{'?' if query else ''}{'&'.join(query)}"

    @property
    def _listed(self) -> set[str]:
        return {key for key, value in self.options if "," in value}

    @property
    def slug(self) -> str:
        """Name the registry for files on this machine: two addresses of one place have one slug."""
        known = dict(self.options)
        place = "\n".join((*(known.get(key, "") for key in ("service", "host", "port", "dbname")), self.registry))
        return f"{self.registry}-{sha256(place.encode()).hexdigest()[:12]}"


def _login(authority: str) -> dict[str, str]:
    """Read `user:password@host:port`; several hosts are separated by commas."""
    who, at, place = authority.rpartition("@")
    user, colon, password = who.partition(":")
    login = {"user": unquote(user)} if at and user else {}
    if colon:
        login["password"] = unquote(password)
    if place:
        hosts = [_HOST.fullmatch(host) for host in place.split(",")]
        parts = [host.groups("") for host in hosts if host]
        if len(parts) < len(hosts):
            raise _unreadable()
        login["host"] = ",".join(unquote(bracketed or plain) for bracketed, plain, _ in parts)
        if any(port for _, _, port in parts):
            login["port"] = ",".join(port for _, _, port in parts)
    return login


def _joined(known: dict[str, str]) -> str:
    host, port = known.get("host", ""), known.get("port", "")
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{port}" if port else host


def _unreadable() -> UsageError:
    return UsageError(
        "this address of a registry cannot be read",
        hint="postgresql://USER@HOST:PORT/DATABASE?registry=NAME, with %XX for signs like @ / ? # in a password",
    )
