"""The packages behind germline's extras: what needs one names them where they are missing."""

from __future__ import annotations

import shlex


def install_hint(extra: str) -> str:
    """Write the command that installs what an extra needs, by the names of its packages.

    It never names `germline[…]`: a package index may have that name from somebody else.
    """
    from importlib.metadata import PackageNotFoundError, requires  # noqa: PLC0415 - only where something is missing

    try:
        rows = [row.partition(";") for row in requires("germline") or ()]
    except PackageNotFoundError:  # started from a checkout that is not installed
        rows = []
    asked = {f"extra == '{extra}'", f'extra == "{extra}"'}
    packages = [package.strip() for package, _, marker in rows if marker.strip() in asked]
    return f"pip install {shlex.join(packages)}" if packages else f"in a checkout: pip install '.[{extra}]'"
