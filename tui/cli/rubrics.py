"""The rubric that a judge goes by: that of the settings, else its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.errors import UsageError

if TYPE_CHECKING:
    from tui.cli.config import Config

_MOST_CHARS: Final = 20_000
_HINT: Final = "judge.rubric in germline.toml names a text file; docs/judge.md shows one"


def rubric_of(config: Config) -> str:
    """Read the rubric; raises UsageError for a file that cannot be one."""
    from strategies.models.judge import RUBRIC  # noqa: PLC0415 - the list of commands pays for none of it

    path = config.rubric
    if path is None:
        return RUBRIC
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read the rubric {path}: {error.strerror}", hint=_HINT) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the rubric {path} is no UTF-8 text: {error}", hint=_HINT) from error
    if not text.strip() or len(text) > _MOST_CHARS:
        what = f"has {len(text):,} characters, at most {_MOST_CHARS:,} may be" if text.strip() else "is empty"
        raise UsageError(f"the rubric {path} {what}", hint=_HINT)
    return text


def present_prompt(config: Config) -> str:
    """Give the hash of the prompt that a judge would have now."""
    from strategies.models.judge import judge_prompt  # noqa: PLC0415 - the list of commands pays for none of it

    return judge_prompt(rubric_of(config))
