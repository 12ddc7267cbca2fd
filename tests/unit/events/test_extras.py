"""What is missing is named by the packages that bring it, not by a name that an index may have from others."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING

from events.extras import install_hint

if TYPE_CHECKING:
    import pytest


def test_the_packages_of_an_extra_are_named_with_their_versions() -> None:
    assert install_hint("postgres") == "pip install 'psycopg[binary]<4,>=3.2'"


def test_a_checkout_that_is_not_installed_is_installed_from_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str) -> list[str]:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", unknown)
    assert install_hint("mcp") == "in a checkout: pip install '.[mcp]'"
