"""Trust of a project: whether the guarded settings of its germline.toml take effect.

They do where the person trusted exactly these, by `germline trust`, or answers for them with `--trust-project`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from events.errors import UntrustedError
from tui.cli.config.consents import Consent, consent_for
from tui.cli.config.guarded_settings import GuardedSetting, guarded
from tui.session.ownership import VOUCHED, foreign_owner
from tui.text.numbers import count

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tui.documents.status import TrustName


@dataclass(frozen=True, slots=True)
class ProjectTrust:
    """The guarded settings of a project's file, and the consent to them; `owner` is another user it belongs to."""

    file: Path
    settings: tuple[GuardedSetting, ...] = ()
    owner: str = ""
    consent: Consent | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the guarded settings."""
        return tuple(setting.key for setting in self.settings)

    @property
    def sha256(self) -> str:
        """The hash that a consent is given to: of the folder, the foreign owner, and every guarded setting."""
        named = {setting.key: [setting.value, setting.leads_to] for setting in self.settings}
        stated = {"folder": str(self.file.parent.resolve()), "owner": self.owner, "settings": named}
        text = json.dumps(stated, sort_keys=True, separators=(",", ":"), default=str)
        return sha256(text.encode()).hexdigest()

    @property
    def state(self) -> TrustName:
        """How things stand."""
        if not self.settings and not self.owner:
            return "not needed"
        if self.consent and self.consent.sha256 == self.sha256:
            return "trusted"
        if VOUCHED.get():
            return "answered for"
        return "changed" if self.consent else "untrusted"

    @property
    def is_in_force(self) -> bool:
        """Whether the guarded settings take effect."""
        return self.state in {"not needed", "trusted", "answered for"}

    @property
    def values(self) -> dict[str, str]:
        """Every guarded setting as text, by its key."""
        return {setting.key: as_toml(setting.value) for setting in self.settings}

    @property
    def summary(self) -> str:
        """Say in one line how things stand."""
        what = count(len(self.settings), "setting")
        if self.owner and not self.is_in_force:
            return f"{self.file} belongs to {self.owner}, and is not used"
        return {
            "not needed": "",
            "trusted": f"you trust {what} of {self.file}, as they are",
            "answered for": f"--trust-project answers for {what} of {self.file}, this once",
            "changed": f"changed since you trusted it, {what} of {self.file} not in force",
            "untrusted": f"{what} of {self.file} not in force before you trust it",
        }[self.state]


def trust_of(file: Path, tables: Mapping[str, Any], own: Mapping[str, Any]) -> ProjectTrust:
    """Look at a project's settings; `own` are those of the person's own file."""
    folder = file.parent
    return ProjectTrust(file, guarded(tables, own, folder), foreign_owner(folder, file), consent_for(folder))


def refused(file: str, keys: tuple[str, ...]) -> UntrustedError:
    """Say that a command would use settings which nobody trusted yet."""
    shown = ", ".join(keys[:3]) + (f" and {len(keys) - 3} more" if len(keys) > 3 else "")  # noqa: PLR2004 - a line's worth
    return UntrustedError(
        f"{file} sets {shown}, and you have not trusted that",
        settings=keys,
        hint="germline trust    germline --trust-project …",
    )


def as_toml(value: object) -> str:
    """Write a value in one line, nearly as TOML has it."""
    return json.dumps(value, ensure_ascii=False, default=str)
