"""Checks of what is set up: each gives its state, and the command that mends it."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import distributions
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final, Literal

from events.errors import GermlineError
from events.extras import install_hint
from events.integrity.sidecar import contradiction
from events.model_errors import MalformedReplyError, RequestRefusedError
from events.store.envelope import GENESIS, holds
from registry.actions.publish import differences, moved_to, standing
from registry.evidence.gitleaks import find_scanner
from registry.evidence.log_paths import kept_path
from registry.projection.document_check import document_problems, refold
from strategies.claims.catalogue import broken_plugins
from strategies.files.default_locations import usual_logs
from strategies.files.project_sessions import ProjectSessions
from strategies.files.read_offsets import PREFIX
from strategies.logs.formats_table import broken_readers
from strategies.logs.log_listing import log_files
from strategies.models.anthropic_client import Claude
from strategies.models.chat_server import KEY as CHAT_KEY
from strategies.models.chat_server import ChatServer
from strategies.models.http_errors import KEY
from strategies.models.model_settings import ModelSettings
from strategies.models.served_model import OPENAI_URL, served_model
from tui.cli.config.config import read_config
from tui.cli.config.known_settings import KINDS
from tui.cli.config.layers import NAME, nearest_file, strays, trust_here, user_file
from tui.cli.output.color import Paint, width
from tui.cli.output.exit import BEGINS, begins_there
from tui.session.open_registry import find_registry, open_library, open_log, project_folder, trust_command
from tui.session.own_registries import skill_places, trust_in, unconfirmed_words
from tui.text.numbers import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from registry.query.library import Library
    from tui.cli.config.config import Config
    from tui.cli.output.invocation import Invocation
    from tui.session.open_registry import Where

State = Literal["ok", "missing", "broken"]
"""It holds; it is not set up, which is no fault; or it is set up and does not hold."""

LAST_EVENTS: Final = 1_000
"""Events at the end of the log that are looked at: some 10 ms, where `verify` reads all of them."""
FOLDED_EVENTS: Final = 20_000
"""Events of a log that is folded once more: about a second; `verify` folds logs of any length."""
_SERVER_S: Final = 3.0
"""Seconds that a server of models has to say which ones it has."""
_NAMED_MODELS: Final = 8
_OWN: Final = frozenset({"events", "registry", "strategies", "tui"})
_EXTRAS: Final = (
    ("hyperscan", "hyperscan", "searches plain logs faster than google-re2"),
    ("gepa", "gepa", "searches a population of variants for `train`"),
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
class DoctorCheck:
    """One thing that was looked at; `mend` is the command that mends it, "" where nothing is to be done."""

    name: str
    state: State
    summary: str
    mend: str = ""


def checks(call: Invocation) -> Iterator[DoctorCheck]:
    """Look at everything, one thing after the other."""
    config, settings = _settings()
    yield from _registry(call)
    yield from settings
    yield from _logs(call, config)
    yield from _tools(config)
    yield from _models(config)
    yield from _rollouts(config)
    yield from _packages()
    yield from _plugins()
    yield _terminal()


def _settings() -> tuple[Config | None, list[DoctorCheck]]:
    results = []
    try:
        config, trust = read_config(), trust_here()
    except GermlineError as error:
        return None, [DoctorCheck("settings", "broken", error.message, error.hint)]
    files = [str(path) for path in (nearest_file(), user_file()) if path and path.is_file()]
    places = " and ".join(files) if files else f"no {NAME} here or above, and none of your own: defaults"
    results.append(
        DoctorCheck("settings", "ok" if files else "missing", places, "" if files else "germline config")
    )
    if trust.summary:
        state: State = "ok" if trust.is_in_force else "missing"
        results.append(DoctorCheck("trust", state, trust.summary, "" if trust.is_in_force else "germline trust"))
    for name, near in strays([*KINDS, "registry"]):
        results.append(
            DoctorCheck("settings", "broken", f"{name} says nothing to germline", f"did you mean {near}?")
        )
    return config, results


def _registry(call: Invocation) -> Iterator[DoctorCheck]:
    try:
        path = find_registry(call.registry)
    except GermlineError as error:
        yield DoctorCheck("registry", "missing", error.message, error.hint)
        return
    try:
        with open_library(path) as library:
            yield (head := _head(library, path))
            if head.state == "ok":
                yield from _registry_trust(library, path)
                yield from _documents(library, path)
                yield from _skills(library)
    except GermlineError as error:
        mend = begins_there(call.registry) if error.hint == BEGINS else error.hint
        yield DoctorCheck("registry", "broken", error.message, mend or "germline verify")


def _head(library: Library, path: Where) -> DoctorCheck:
    """Check the last events: each is what was hashed, and follows from the one before it."""
    last = list(library.log.read(newest_first=True, limit=LAST_EVENTS))
    wrong = [envelope.position for envelope in last if not holds(envelope)]
    wrong += [new.position for new, old in pairwise(last) if new.previous_hash != old.hash]
    if last[-1].position == 1 and last[-1].previous_hash != GENESIS:
        wrong.append(1)
    if wrong:
        return DoctorCheck("registry", "broken", f"{path}: event {min(wrong)} does not hold", "germline verify")
    if problem := contradiction(library.log):
        return DoctorCheck("registry", "broken", f"{path}: {problem.what}", "germline verify")
    head = library.log.head()
    held = "all of them hold" if len(last) == head.position else f"the last {len(last):,} hold"
    words = f"{path}, {library.log.backend}, {count(head.position, 'event')}, {held}, head {head.hash[:16]}"
    return DoctorCheck("registry", "ok", words)


def _registry_trust(library: Library, path: Where) -> Iterator[DoctorCheck]:
    """Tell whether the registry is the person's own, and its places outside the project confirmed."""
    trust = trust_in(path, library.log)
    for words in (trust.summary, unconfirmed_words(skill_places(library, trust))):
        if words:
            yield DoctorCheck("trust", "missing", words, trust_command(path))


def _documents(library: Library, path: Where) -> Iterator[DoctorCheck]:
    """Compare what is kept of the folded events with a fold of them, of logs that take a second at most."""
    if library.log.head().position <= FOLDED_EVENTS and (wrong := document_problems(library.log)):
        yield DoctorCheck("documents", "broken", f"{path}: {wrong[0].what}", refold(str(path)))


def _skills(library: Library) -> Iterator[DoctorCheck]:
    names = library.live_names()
    if not library.names():
        yield DoctorCheck("skills", "missing", "none is imported", "germline import PATH")
    for name in names:
        stands = standing(library, name)
        if stands == "projected":
            yield DoctorCheck("skills", "ok", f"{name}@{library.outline(name).version}, as projected")
        else:
            paths = ", ".join(difference.path for difference in differences(library, name)[:3])
            words, mend = f"{name}: {_STANDS[stands]}: {paths}", _MENDS[stands].format(name=name)
            if folder := moved_to(library, library.capsule(name)):
                words, mend = f"{name}: moved with its registry", f"germline import {quote(str(folder))}"
            yield DoctorCheck("skills", "broken", words, mend)


def _logs(call: Invocation, config: Config | None) -> Iterator[DoctorCheck]:
    """Tell how many of the files in the usual places, and in those of the settings, were scanned."""
    named = [("scan.paths", path) for path in config.paths] if config else []
    usual = usual_logs()
    places, only = [*usual, *named], ProjectSessions(project_folder(call.registry))
    if not places:
        yield DoctorCheck("logs", "missing", "none where known agents keep theirs", "germline scan PATH")
        return
    known = _scanned(call)
    for who, path in places:
        if not path.exists():
            yield DoctorCheck("logs", "broken", f"{who} names {path}, which is not there", f"mend {NAME}")
            continue
        mine = only if (who, path) in usual else None
        files = [kept_path(str(file)) for file, _ in log_files([path], only=mine)]
        if not files:
            of_this = " of this project" if mine else ""
            yield DoctorCheck("logs", "missing", f"{who}: no log{of_this} yet, in {kept_path(str(path))}")
            continue
        scanned = sum(file in known for file in files)
        words = f"{who}: {scanned:,} of {count(len(files), 'file')} scanned, in {kept_path(str(path))}"
        missing = scanned < len(files)
        mend = f"germline scan{'' if mine else f' {quote(str(path))}'}" if missing else ""
        yield DoctorCheck("logs", "missing" if missing else "ok", words, mend)


def _scanned(call: Invocation) -> frozenset[str]:
    try:
        with closing(open_log(find_registry(call.registry), read_only=True)) as log:
            names = log.maps()
    except GermlineError:
        return frozenset()  # told as a fault of the registry
    return frozenset(name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX))


def _tools(config: Config | None) -> Iterator[DoctorCheck]:
    leaks = find_scanner()
    if leaks:
        asked = "asked for secrets beside the built-in rules" if config is None or config.gitleaks else "not asked"
        yield DoctorCheck("gitleaks", "ok", f"{leaks}, {asked}")
    else:
        yield DoctorCheck(
            "gitleaks",
            "missing",
            "not on PATH; the built-in rules stand alone",
            "install betterleaks, or gitleaks 8.19+",
        )
    for name, package, use in _EXTRAS:
        there = find_spec(package) is not None
        mend = "" if there else install_hint(name)
        yield DoctorCheck(
            name, "ok" if there else "missing", f"{'installed' if there else 'not installed'}: {use}", mend
        )


def _models(config: Config | None) -> Iterator[DoctorCheck]:
    """Tell whether models can be asked, what a key would add where there is none, and what has no price."""
    key = bool(os.environ.get(KEY))
    adds = "with it Claude proposes, writes skills, judges, advises and runs tasks; all else works without"
    words = f"{KEY} is set" if key else f"{KEY} is not set; {adds}"
    yield DoctorCheck("model", "ok" if key else "missing", words, "" if key else f"export {KEY}=…")
    settings = config.models if config else ModelSettings()
    named = ", ".join(f"{role} {name}" for role, name in settings.named.items())
    if not named:
        mend = f'proposer = "NAME" under [models] in {NAME}'
        yield DoctorCheck("models", "missing", "none is named for any role, so none is asked", mend)
        return
    caps = settings.caps
    words = f"{named}; at most {caps.usd_per_cycle:g} USD a cycle, {caps.usd_per_day:g} a day (0: no cap)"
    yield DoctorCheck("models", "ok", words)
    asked = sorted({*settings.named.values(), *settings.fallback.values()})
    yield from _claudes([name for name in asked if served_model(name) is None], settings.base_url)
    yield from _served(asked)
    for name in sorted(
        {model for model in settings.named.values() if settings.price_list.price_of(model) is None}
    ):
        words = f"no price of {name} is known (list of {settings.price_list.date})"
        state: State = "broken" if caps.in_usd else "missing"
        mend = f'[models.prices."{name}"] in {NAME}'
        yield DoctorCheck("models", state, words, _nearest(name, settings.price_list.models, mend))


def _claudes(named: Sequence[str], base_url: str) -> Iterator[DoctorCheck]:
    """Ask Anthropic's server, or the one in its place, whether it has the models that are asked there."""
    key = os.environ.get(KEY, "").strip()
    if not key or not named:
        return
    where = base_url or "Anthropic's server"
    claude = Claude(key, base_url=base_url, timeout_s=_SERVER_S, max_retries=0, longest_wait_s=0)
    with closing(claude) as server:
        try:
            there = server.model_names()
            short = [name for name in named if name not in there and server.has_model(name)]
        except (
            RequestRefusedError,
            MalformedReplyError,
        ):  # servers in the place of Anthropic's need not list anything
            yield DoctorCheck("models", "missing", f"{where} does not say which models it has")
            return
        except GermlineError as error:
            yield DoctorCheck("models", "broken", error.message, error.hint)
            return
    for name in named:
        yield _had(where, name, [*there, *short], f"under [models] in {NAME}")


def _served(named: Iterable[str]) -> Iterator[DoctorCheck]:
    """Ask the servers of `openai:` models what they have."""
    served = {model for name in named if (model := served_model(name)) and model.url != OPENAI_URL}
    key = os.environ.get(CHAT_KEY, "").strip()
    server = ChatServer(key, timeout_s=_SERVER_S, max_retries=0, longest_wait_s=0)
    for name, url in sorted(served):
        try:
            there = server.models_of(url)
        except GermlineError as error:
            yield DoctorCheck("models", "broken", error.message, error.hint)
            continue
        yield _had(url, name, there, f"openai:NAME@URL under [models] in {NAME}, with a NAME that the server has")


def _had(server: str, name: str, there: Sequence[str], mend: str) -> DoctorCheck:
    """Say whether a server has a model, and what it has where it does not."""
    if name in there:
        return DoctorCheck("models", "ok", f"{server} has {name}")
    has = ", ".join(there[:_NAMED_MODELS]) or "none"
    words = f"{server} has no model {name}; it has {has}"
    return DoctorCheck("models", "broken", words, _nearest(name, there, mend))


def _nearest(name: str, known: Iterable[str], mend: str) -> str:
    """Ask first whether the nearest name that is known was meant."""
    near = get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]}? {mend}" if near else mend


def _rollouts(config: Config | None) -> Iterator[DoctorCheck]:
    """Tell whether commands can be isolated here, and whether what the settings name for rollouts is there."""
    from strategies.sandbox.confined_run import MISSING, missing_isolation  # noqa: PLC0415 - starts a process

    every = [config.rollouts.every, *config.rollouts.skills.values()] if config else []
    missing, wanted = missing_isolation(), any(skill.tasks or skill.metric for skill in every)
    if not missing:
        yield DoctorCheck(
            "isolation", "ok", "agents and graders run in namespaces of their own, without a network"
        )
    else:
        words = "; ".join(MISSING.get(part, part) for part in missing)
        allowed = all(skill.allow_unisolated for skill in every if skill.tasks or skill.metric)
        mend = (
            ""
            if wanted and allowed
            else f"allow_unisolated = true under [rollouts] in {NAME} runs them all the same"
        )
        yield DoctorCheck("isolation", "broken" if wanted and not allowed else "missing", words, mend)
    for named in sorted({path for skill in every for path in (skill.tasks, skill.metric) if path}):
        if not Path(named).exists():
            yield DoctorCheck(
                "rollouts", "broken", f"{NAME} names {named}, which is not there", "germline config --origins"
            )


def _packages() -> Iterator[DoctorCheck]:
    """Name packages whose modules lie where germline's do: the last installed has replaced files of the other."""
    for package in distributions():
        shared = _OWN.intersection((package.read_text("top_level.txt") or "").split())
        if shared and package.name != "germline":
            words = f"{package.name} and germline both have modules named {', '.join(sorted(shared))}"
            yield DoctorCheck("packages", "broken", words, "install germline by itself: pipx install germline")


def _plugins() -> Iterator[DoctorCheck]:
    broken = [
        (f"reader {broken_reader.entry} of {broken_reader.package}", broken_reader.reason)
        for broken_reader in broken_readers()
    ]
    broken += [(f"claim {name}", reason) for name, reason in broken_plugins()]
    for name, reason in broken:
        yield DoctorCheck("plug-ins", "broken", f"{name} does not work: {reason}", "update or remove the package")
    if not broken:
        yield DoctorCheck("plug-ins", "ok", "none that is installed is broken")


def _terminal() -> DoctorCheck:
    """Tell what the terminal can show."""
    encoding = (sys.stdout.encoding or "").replace("-", "").lower()
    colour = "colours" if Paint.of(sys.stdout).enabled else "no colours"
    kind = f"{width()} columns, {colour}" if sys.stdout.isatty() else "none: the answer goes to a file or a pipe"
    if encoding not in {"utf8", ""}:
        return DoctorCheck(
            "terminal", "missing", f"{kind}, {sys.stdout.encoding}, no UTF-8", "export LC_ALL=C.UTF-8"
        )
    return DoctorCheck("terminal", "ok", f"{kind}, UTF-8")
