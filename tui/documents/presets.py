"""Documents on presets: their numbers, and what would be picked under them."""

from typing import TYPE_CHECKING, Literal

from events.types.parts import Strategy
from strategies.policy.presets import Preset
from tui.documents.document import ABSENT, Absent, Document, Part, Rehearsed
from tui.documents.events import EventRow
from tui.documents.signals import PickReason, RestingSignal, SignalRow

if TYPE_CHECKING:
    from events.types.registry_events import SignalRaised
    from strategies.select.pick import Pick


class PresetRow(Preset):
    """A preset, whether it is in force, and whether a person defined it."""

    in_force: bool
    own: bool


class AutoChoice(Part):
    """What `auto` would choose now, and why."""

    preset: str
    because: str
    in_force: bool


class PresetListDocument(Document):
    """List the presets side by side, the one in force marked; your own come last."""

    schema_: Literal["germline/preset-list/1"] = "germline/preset-list/1"
    preset: str
    presets: tuple[PresetRow, ...]
    auto: AutoChoice


class PresetDefinition(Part):
    """A definition of a preset, and the position of its event."""

    event: int
    definition: str


class PresetShowDocument(Document):
    """Show the numbers of one preset, and what each is for."""

    schema_: Literal["germline/preset-show/1"] = "germline/preset-show/1"
    preset: Preset
    because: str | None
    defined: tuple[PresetDefinition, ...]


class PresetUseDocument(Document):
    """Let another preset bind the strategies from here on; needs --reason."""

    schema_: Literal["germline/preset-use/1"] = "germline/preset-use/1"
    dry_run: Rehearsed = False
    preset: Absent[str] = ABSENT
    previous: Absent[str] = ABSENT
    events: tuple[EventRow, ...]


class PresetDefineDocument(Document):
    """Define a preset of your own from a TOML file; it may be stricter than the written rule, never looser."""

    schema_: Literal["germline/preset-define/1"] = "germline/preset-define/1"
    dry_run: Rehearsed = False
    preset: Absent[Preset] = ABSENT
    times: Absent[int] = ABSENT
    events: tuple[EventRow, ...]


class ForeseenPick(Part):
    """A signal that would be picked, and why; `differs` tells that the first preset would pick another one."""

    strategy: Strategy
    signal: SignalRow
    skill: str
    owed: dict[Strategy, float]
    waiting: dict[Strategy, int]
    severity: float
    differs: bool

    @classmethod
    def of(cls, pick: "Pick[SignalRaised]", skill: str, *, differs: bool) -> "ForeseenPick":
        """Read it from the pick and the skill that it would go to."""
        return cls(
            strategy=pick.offer.calls_for,
            signal=SignalRow.model_validate(pick.offer),
            skill=skill,
            **dict(PickReason.of(pick)),
            differs=differs,
        )


class PresetOutlook(Part):
    """What would be picked under one preset."""

    preset: str
    binds: str
    because: str | None
    picks: tuple[ForeseenPick, ...]


class PresetPreviewDocument(Document):
    """Say what would be picked next, and what differently under another preset; nothing is mined or written."""

    schema_: Literal["germline/preset-preview/1"] = "germline/preset-preview/1"
    presets: tuple[PresetOutlook, ...]
    resting: tuple[RestingSignal, ...]
    unrouted: tuple[SignalRow, ...]
