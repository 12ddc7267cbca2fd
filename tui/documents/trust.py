"""Documents on the trust of a project: the settings that need it, and the projects that have it."""

from __future__ import annotations

from typing import Literal

from tui.documents.document import ABSENT, Absent, Document, Part

TrustName = Literal["not needed", "trusted", "answered for", "changed", "untrusted"]
"""`changed`: other settings were trusted. `answered for`: by --trust-project, for one command."""


class TrustState(Part):
    """Whether the settings of a project are trusted, and which of them need it."""

    state: TrustName
    settings: tuple[str, ...]


class GuardedSettingRow(Part):
    """A setting that needs trust: what it allows, and where its paths lead."""

    key: str
    value: str
    lets: str
    leads_to: tuple[str, ...]


class TrustedProject(Part):
    """A project that is trusted, and the settings as they were then."""

    folder: str
    sha256: str
    at: str
    values: dict[str, str]


class TrustDocument(Document):
    """Let this project's settings run, reach and reveal things."""

    schema_: Literal["germline/trust/1"] = "germline/trust/1"
    dry_run: Absent[bool] = ABSENT
    file: Absent[str] = ABSENT
    owner: Absent[str | None] = ABSENT
    state: Absent[TrustName] = ABSENT
    sha256: Absent[str] = ABSENT
    settings: Absent[tuple[GuardedSettingRow, ...]] = ABSENT
    revoked: Absent[bool] = ABSENT
    trusted: Absent[tuple[TrustedProject, ...]] = ABSENT
