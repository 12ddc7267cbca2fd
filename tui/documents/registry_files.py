"""Documents on the registry's own files and settings: backups, copies, repairs, checks of the set-up, trust."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field, JsonValue

from tui.documents.document import ABSENT, Absent, Document, Part
from tui.documents.status import RegistryTrustState, TrustName

if TYPE_CHECKING:
    from events.sqlite.backup import Lack


class ErrorDocument(Document):
    """What a command that was asked for JSON writes to stderr where it fails: what happened, and what to type."""

    schema_: Literal["germline/error/1"] = "germline/error/1"
    error: str
    hint: str | None
    exit_code: int


class BackupDocument(Document):
    """Copy the registry into one file, verified, while in use; `left_out` are edits that are files alone."""

    schema_: Literal["germline/backup/1"] = "germline/backup/1"
    dry_run: bool
    registry: str
    file: str
    events: int
    head: str
    bytes: int | None
    replaced: bool
    left_out: tuple[str, ...]


class RestoreLoss(Part):
    """What a registry holds and a backup does not."""

    head: str
    common: int
    episodes: int
    blobs: int
    erasures: int
    events: int

    @classmethod
    def of(cls, lack: "Lack") -> "RestoreLoss":
        """Read it from the comparison of both."""
        return cls.described(lack, head=lack.head.hash)


class RestoreDocument(Document):
    """Put a backup in the place of the registry, kept aside."""

    schema_: Literal["germline/restore/1"] = "germline/restore/1"
    dry_run: bool
    registry: str
    file: str
    events: int
    head: str
    aside: str | None
    lost: RestoreLoss | None
    unreadable: str


class CopyDocument(Document):
    """Copy a registry to another place or database, byte for byte."""

    schema_: Literal["germline/copy/1"] = "germline/copy/1"
    dry_run: bool
    source: str
    target: str
    there: int
    events: int
    blobs: int
    erased: int
    episodes: int
    checkpoints: int
    head: str


class CheckRow(Part):
    """One thing that was looked at; `mend` is the command that mends it."""

    name: str
    state: Literal["ok", "missing", "broken"]
    summary: str = Field(serialization_alias="said")
    mend: str


class DoctorDocument(Document):
    """Say what is set up, what is missing, what mends it."""

    schema_: Literal["germline/doctor/1"] = "germline/doctor/1"
    ok: bool
    checks: tuple[CheckRow, ...]


class DamageRow(Part):
    """A place where a registry does not hold what it promises."""

    position: int
    what: str


class RecoveredRows(Part):
    """What a repair saved."""

    events: int
    head: str
    blobs: Absent[int] = ABSENT
    episodes: Absent[int] = ABSENT
    checkpoints: Absent[int] = ABSENT


class LostRows(Part):
    """What a repair could not save; `types` counts events that could be read but prove nothing."""

    events: int
    acknowledged: int
    types: dict[str, int]
    rows: dict[str, int]
    evidence: tuple[str, ...]


class DoctorRepairDocument(Document):
    """What a repair of a damaged registry saved, or would save."""

    schema_: Literal["germline/doctor-repair/1"] = "germline/doctor-repair/1"
    dry_run: bool
    registry: str
    problems: tuple[DamageRow, ...]
    recovered: Absent[RecoveredRows] = ABSENT
    lost: Absent[LostRows] = ABSENT
    trouble: Absent[tuple[str, ...]] = ABSENT
    aside: Absent[str] = ABSENT


class SettingRow(Part):
    """A setting, and which layer says so."""

    key: str
    value: JsonValue
    origin: str
    where: str | None


class SettingFiles(Part):
    """The files that settings are read from."""

    nearest: str | None
    user: str
    user_exists: bool


class ConfigDocument(Document):
    """Show every setting, its value, and what sets it."""

    schema_: Literal["germline/config/1"] = "germline/config/1"
    settings: tuple[SettingRow, ...]
    files: SettingFiles


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
