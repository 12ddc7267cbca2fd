"""Documents on the trust of a project: the settings that need it, and the projects that have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tui.documents.document import ABSENT, Absent, Document, Part

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from tui.session.own_registries import RegistryTrust, SkillPlace

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


class SkillPlaceRow(Part):
    """A folder outside the project that a skill is written to, once it is confirmed; links are followed."""

    skill: str
    folder: str
    confirmed: bool


class RegistryTrustState(Part):
    """Whether commands may write to a registry, and the places outside the project that its skills lie in."""

    registry: str
    state: Literal["trusted", "answered for", "changed", "untrusted"]
    places: tuple[SkillPlaceRow, ...]

    @classmethod
    def of(cls, trust: RegistryTrust, places: Iterable[SkillPlace]) -> Self:
        """Put what is known of a registry into the document."""
        rows = tuple(SkillPlaceRow.model_validate(place._asdict()) for place in places)
        return cls(registry=str(trust.where), state=trust.state, places=rows)


class TrustedRegistry(Part):
    """A registry that the person created or trusts, by the hash of its first event, and the confirmed places."""

    place: str
    created: str
    at: str
    skills: tuple[str, ...]


class TrustDocument(Document):
    """Let a project's settings and registry take effect."""

    schema_: Literal["germline/trust/1"] = "germline/trust/1"
    dry_run: Absent[bool] = ABSENT
    file: Absent[str] = ABSENT
    owner: Absent[str | None] = ABSENT
    state: Absent[TrustName] = ABSENT
    sha256: Absent[str] = ABSENT
    settings: Absent[tuple[GuardedSettingRow, ...]] = ABSENT
    registry: Absent[RegistryTrustState | None] = ABSENT
    revoked: Absent[bool] = ABSENT
    trusted: Absent[tuple[TrustedProject, ...]] = ABSENT
    registries: Absent[tuple[TrustedRegistry, ...]] = ABSENT
