"""Checks of what is set up: each says how it stands, and the command that mends it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final, Literal

from events.envelope import GENESIS, holds
from events.errors import GermlineError
from registry.gitleaks import find_gitleaks
from registry.log_paths import kept_path
from registry.publish import differences, moved_to, standing
from strategies.claims.kinds import broken_plugins
from strategies.logs.checkpoint import PREFIX
from strategies.logs.readers import broken_readers
from strategies.logs.scan import log_files
from strategies.logs.usual import usual_logs
from strategies.models.failures import KEY
from strategies.models.settings import ModelSettings
from tui.bootstrap import find_registry, open_library
from tui.cli.config import KINDS, read_config
from tui.cli.ending import BEGINS, begins_there
from tui.cli.layers import NAME, nearest_file, strays, user_file
from tui.cli.paint import Paint, width
from tui.figures import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.library import Library
    from tui.bootstrap import Where
    from tui.cli.config import Config
    from tui.cli.invocation import Invocation

State = Literal["ok", "missing", "broken"]
"""It holds; it is not set up, which is no fault; or it is set up and does not hold."""

LAST_EVENTS: Final = 1_000
"""Events at the end of the log that are looked at: some 10 ms, where `verify` reads all of them."""
_EXTRAS: Final = (
    ("hyperscan", "hyperscan", "searches plain logs faster than google-re2"),
    ("inspect", "inspect_ai", "reads the eval logs of Inspect"),
    ("postgres", "psycopg", "keeps a registry on a PostgreSQL server, for a team"),
)
_MENDS: Final = {
    "stale": "germline project {name}",
    "missing": "germline project {name}",
    "edited": "germline adopt {name}    germline project {name} --discard",
}
_STANDS: Final = {
    "stale": "its files are of an earlier version",
    "missing": "its files are not on disk",
    "edited": "edited by hand",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; `mend` is the command that mends it, "" where nothing is to be done."""

    name: str
    state: State
    said: str
    mend: str = ""


def checks(call: Invocation) -> Iterator[Check]:
    """Look at everything, one thing after the other."""
    config, settings = _settings()
    yield from _registry(call)
    yield from settings
    yield from _logs(call, config)
    yield from _tools(config)
    yield from _models(config)
    yield from _rollouts(config)
    yield from _plugins()
    yield _terminal()


def _settings() -> tuple[Config | None, list[Check]]:
    found = []
    try:
        config = read_config()
    except GermlineError as error:
        return None, [Check("settings", "broken", error.message, error.hint)]
    files = [str(path) for path in (nearest_file(), user_file()) if path and path.is_file()]
    said = " and ".join(files) if files else f"no {NAME} here or above, and none of your own: defaults"
    found.append(Check("settings", "ok" if files else "missing", said, "" if files else "germline config"))
    for name, near in strays([*KINDS, "registry"]):
        found.append(Check("settings", "broken", f"{name} says nothing to germline", f"did you mean {near}?"))
    return config, found


def _registry(call: Invocation) -> Iterator[Check]:
    try:
        path = find_registry(call.registry)
    except GermlineError as error:
        yield Check("registry", "missing", error.message, error.hint)
        return
    try:
        with open_library(path) as library:
            yield _head(library, path)
            yield from _skills(library)
    except GermlineError as error:
        mend = begins_there(call.registry) if error.hint == BEGINS else error.hint
        yield Check("registry", "broken", error.message, mend or "germline verify")


def _head(library: Library, path: Where) -> Check:
    """Check the last events: each is what was hashed, and follows from the one before it."""
    last = list(library.log.read(newest_first=True, limit=LAST_EVENTS))
    wrong = [one.position for one in last if not holds(one)]
    wrong += [new.position for new, old in pairwise(last) if new.previous_hash != old.hash]
    if last[-1].position == 1 and last[-1].previous_hash != GENESIS:
        wrong.append(1)
    if wrong:
        return Check("registry", "broken", f"{path}: event {min(wrong)} does not hold", "germline verify")
    head = library.log.head()
    held = "all of them hold" if len(last) == head.position else f"the last {len(last):,} hold"
    said = f"{path}, {library.log.backend}, {count(head.position, 'event')}, {held}, head {head.hash[:16]}"
    return Check("registry", "ok", said)


def _skills(library: Library) -> Iterator[Check]:
    names = library.names()
    if not names:
        yield Check("skills", "missing", "none is imported", "germline import PATH")
    for name in names:
        stands = standing(library, name)
        if stands == "projected":
            yield Check("skills", "ok", f"{name}@{library.outline(name).version}, as projected")
        else:
            paths = ", ".join(one.path for one in differences(library, name)[:3])
            said, mend = f"{name}: {_STANDS[stands]}: {paths}", _MENDS[stands].format(name=name)
            if folder := moved_to(library, library.capsule(name)):
                said, mend = f"{name}: moved with its registry", f"germline import {quote(str(folder))}"
            yield Check("skills", "broken", said, mend)


def _logs(call: Invocation, config: Config | None) -> Iterator[Check]:
    """Tell how many of the files in the usual places, and in those of the settings, were scanned."""
    named = [("scan.paths", path) for path in config.paths] if config else []
    places = [*usual_logs(), *named]
    if not places:
        yield Check("logs", "missing", "none where Claude Code or Codex keep theirs", "germline scan PATH")
        return
    known = _scanned(call)
    for who, path in places:
        if not path.exists():
            yield Check("logs", "broken", f"{who} names {path}, which is not there", f"mend {NAME}")
            continue
        files = [kept_path(str(file)) for file, _ in log_files([path])]
        if not files:
            yield Check("logs", "missing", f"{who}: no log yet, in {kept_path(str(path))}")
            continue
        scanned = sum(file in known for file in files)
        said = f"{who}: {scanned:,} of {count(len(files), 'file')} scanned, in {kept_path(str(path))}"
        missing = scanned < len(files)
        mend = f"germline scan {quote(str(path))}" if missing else ""
        yield Check("logs", "missing" if missing else "ok", said, mend)


def _scanned(call: Invocation) -> frozenset[str]:
    try:
        with open_library(find_registry(call.registry)) as library:
            names = library.log.checkpoints()
    except GermlineError:
        return frozenset()  # told as a fault of the registry
    return frozenset(name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX))


def _tools(config: Config | None) -> Iterator[Check]:
    leaks = find_gitleaks()
    if leaks:
        asked = "asked for secrets beside the built-in rules" if config is None or config.gitleaks else "not asked"
        yield Check("gitleaks", "ok", f"{leaks}, {asked}")
    else:
        yield Check("gitleaks", "missing", "not on PATH; the built-in rules stand alone", "install gitleaks 8.19+")
    for name, package, use in _EXTRAS:
        there = find_spec(package) is not None
        mend = "" if there else f"pip install 'germline[{name}]'"
        yield Check(
            name, "ok" if there else "missing", f"{'installed' if there else 'not installed'}: {use}", mend
        )


def _models(config: Config | None) -> Iterator[Check]:
    """Tell whether models can be asked, what a key would add where there is none, and what has no price."""
    key = bool(os.environ.get(KEY))
    adds = "with it Claude proposes, writes skills, judges, advises and runs tasks; all else works without"
    said = f"{KEY} is set" if key else f"{KEY} is not set; {adds}"
    yield Check("model", "ok" if key else "missing", said, "" if key else f"export {KEY}=…")
    settings = config.models if config else ModelSettings()
    named = ", ".join(f"{role} {name}" for role, name in settings.named.items())
    if not named:
        mend = f'proposer = "NAME" under [models] in {NAME}'
        yield Check("models", "missing", "none is named for any role, so none is asked", mend)
        return
    caps = settings.caps
    said = f"{named}; at most {caps.usd_per_cycle:g} USD a cycle, {caps.usd_per_day:g} a day (0: no cap)"
    yield Check("models", "ok", said)
    for name in sorted({one for one in settings.named.values() if settings.price_list.price_of(one) is None}):
        said = f"no price of {name} is known (list of {settings.price_list.date})"
        state: State = "broken" if caps.in_usd else "missing"
        yield Check("models", state, said, f'[models.prices."{name}"] in {NAME}')


def _rollouts(config: Config | None) -> Iterator[Check]:
    """Tell whether commands can be isolated here, and whether what the settings name for rollouts is there."""
    from strategies.rollouts.sandbox import MISSING, missing_isolation  # noqa: PLC0415 - starts a process

    every = [config.rollouts.every, *config.rollouts.skills.values()] if config else []
    missing, wanted = missing_isolation(), any(one.tasks or one.metric for one in every)
    if not missing:
        yield Check("isolation", "ok", "agents and graders run in namespaces of their own, without a network")
    else:
        said = "; ".join(MISSING.get(part, part) for part in missing)
        allowed = all(one.allow_unisolated for one in every if one.tasks or one.metric)
        mend = (
            ""
            if wanted and allowed
            else f"allow_unisolated = true under [rollouts] in {NAME} runs them all the same"
        )
        yield Check("isolation", "broken" if wanted and not allowed else "missing", said, mend)
    for named in sorted({path for one in every for path in (one.tasks, one.metric) if path}):
        if not Path(named).is_file():
            yield Check(
                "rollouts", "broken", f"{NAME} names {named}, which is not there", "germline config --origins"
            )


def _plugins() -> Iterator[Check]:
    broken = [(f"reader {one.entry} of {one.package}", one.reason) for one in broken_readers()]
    broken += [(f"claim {name}", reason) for name, reason in broken_plugins()]
    for name, reason in broken:
        yield Check("plug-ins", "broken", f"{name} does not work: {reason}", "update or remove the package")
    if not broken:
        yield Check("plug-ins", "ok", "none that is installed is broken")


def _terminal() -> Check:
    """Tell what the terminal can show."""
    encoding = (sys.stdout.encoding or "").replace("-", "").lower()
    colour = "colours" if Paint.of(sys.stdout).enabled else "no colours"
    kind = f"{width()} columns, {colour}" if sys.stdout.isatty() else "none: the answer goes to a file or a pipe"
    if encoding not in {"utf8", ""}:
        return Check("terminal", "missing", f"{kind}, {sys.stdout.encoding}, no UTF-8", "export LC_ALL=C.UTF-8")
    return Check("terminal", "ok", f"{kind}, UTF-8")
