"""Scope: which logs and which signals belong to which skill, and why.

A log goes as a whole, never a single episode: what an agent did in one, or how that ended, decides nothing, else
the choice of episodes would be a choice among outcomes. What nothing speaks for is common ground of all skills.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from registry.query.signals import assignments
from registry.skill_md.front_matter import description_of
from registry.state.capsule import is_skill_name
from registry.state.instruction_formats import covers_project
from registry.state.line_claims import claims_of
from strategies.episodes.episode_records import moved_to
from strategies.episodes.origins import origins_of
from strategies.episodes.skill_version import under_versions
from strategies.scope.log_globs import LogGlobs
from strategies.scope.other_work import NO_OTHER_WORK, OtherWork
from strategies.scope.word_ranking import MARGIN, Nearest, TextIndex, words_of
from strategies.signals.open_signals import ABOUT_A_SKILL, REPEATED_WISH, Sightings, version_about

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from events.types.registry_events import SignalRaised
    from registry.query.library import Library
    from registry.query.signals import Assignment
    from registry.state.capsule import Capsule
    from strategies.episodes.episode import EpisodeRecord

By = Literal["person", "setting", "about", "trigger", "only", "loaded", "content", "instructions", ""]
"""What decided where a signal goes, "" where nothing did."""

ASSIGN: Final = "germline signals assign FINGERPRINT SKILL"
"""What a person types for a signal that no skill answers to."""
_LOOKED_AT: Final = 200
"""Episodes of a signal whose actions are looked at (a guess): in the order of their hashes, which is any."""
_NAMED: Final = 3.0
"""How much a word of a skill's name and description counts against one of its text (a guess)."""
_BESIDE: Final = 0.5
"""How much what agents call beside a signal counts against its own words (a guess)."""
_MIXED: Final = 0.05
"""The share of episodes of other work alone from which logs are mixed (a guess)."""
_ID: Final = attrgetter("id")
_ANY_TOOL: Final = frozenset(
    ("bash", "cat", "edit", "glob", "grep", "list", "ls", "multi", "read", "shell", "task", "todo", "write")
)
"""Tools of every coding agent: they tell no skill from another."""


class Route(NamedTuple):
    """Where a signal goes, by what, and why in words; `margin` is the lead in content where that was looked at."""

    skill: str
    by: By
    why: str
    margin: float | None = None


class _Log(NamedTuple):
    """What of an episode says whose it is: where it was read first, where it lies by now, who wrote it."""

    place: str
    source: str
    trust: str


class _OriginOwners(NamedTuple):
    """Whose log each is, by its place and trust; and the skills that may learn from it `also`."""

    owners: Mapping[tuple[str, str], frozenset[str]]
    also: Mapping[tuple[str, str], frozenset[str]]


@dataclass(frozen=True)
class Scope:
    """The scope of some episodes in a registry with these skills.

    `records` are the episodes with the versions that they ran under, and `places` says by id where each was read
    first: a log that is rotated, or gone, stays whose it was. `globs` are the settings, `assigned` a person's word
    by fingerprint. `texts` is what people wrote in each skill: what it learned from logs must not draw more logs.
    `others` are capsules of instructions, `instructions` those of the project as a whole.
    """

    records: Sequence[EpisodeRecord]
    skills: tuple[str, ...]
    globs: LogGlobs
    assigned: Mapping[str, Assignment]
    triggers: Mapping[str, str]
    texts: Mapping[str, Mapping[str, float]]
    raised: tuple[SignalRaised, ...]
    places: Mapping[str, str]
    others: tuple[str, ...] = ()
    instructions: str = ""
    _called: dict[str, frozenset[str]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _counting: dict[str, frozenset[str]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def sightings(self) -> Sightings:
        """Where signals show."""
        return Sightings(self.records)

    def restricted(self, skill: str, records: Iterable[EpisodeRecord]) -> list[EpisodeRecord]:
        """Keep the episodes that count for a skill: those of its logs, and of logs that are no skill's."""
        return [record for _, record in self._counting_for(skill, records)]

    def own(self, skill: str, records: Iterable[EpisodeRecord]) -> list[EpisodeRecord]:
        """Keep the episodes of logs known to be a skill's; where there are none, all that count for it."""
        counting = self._counting_for(skill, records)
        owned = {log for log in {log for log, _ in counting} if self._owners(log)}
        return [record for log, record in counting if log in owned or not owned]

    def _counting_for(self, skill: str, records: Iterable[EpisodeRecord]) -> list[tuple[_Log, EpisodeRecord]]:
        placed = self._placed if records is self.records else [(self._log_of(each), each) for each in records]
        counting = {log for log in {log for log, _ in placed} if self._counts(skill, log)}
        return [each for each in placed if each[0] in counting]

    def route(self, signal: SignalRaised, *, answered: bool = True) -> Route:
        """Say where a signal goes: by a person, the settings, what it is about, and what its episodes show.

        Without `answered` it does not matter which sections answer it: what one skill says, another may lack.
        """
        shown = self.sightings.of(signal)
        return (
            self._given(signal, shown)
            or self._about(signal)
            or self._listed(shown)
            or self._by_rule(
                signal, [name for name in self.skills if self._shows(name, shown)], shown, answered=answered
            )
        )

    def _shows(self, skill: str, shown: Sequence[EpisodeRecord]) -> bool:
        if skill not in self._counting:
            counting = self.restricted(skill, self.records)
            self._counting[skill] = frozenset(record.id for record in counting)
        return not shown or not self._counting[skill].isdisjoint(map(_ID, shown))

    def other_work(self, skill: str, records: Sequence[EpisodeRecord]) -> OtherWork:
        """Name the actions in episodes that are another skill's by its words, and share none with this one.

        Instructions are for all work.
        """
        if skill not in self.texts:
            return NO_OTHER_WORK
        called = [{step.action for step in record.steps if step.kind == "call"} for record in records]
        others = frozenset(action for action in set().union(*called) if self._is_elsewhere(skill, action))
        own = {action for action in set().union(*called) if self._score(skill, action)}
        apart = sum(bool(actions & others) and not actions & own for actions in called)
        return OtherWork(others, mixed=bool(others) and apart >= _MIXED * len(called))

    def answered_elsewhere(self, skill: str) -> frozenset[str]:
        """Name the errors and actions whose signals go to another skill."""
        signals = (raised for raised in self.raised if self.route(raised, answered=False).skill not in {"", skill})
        return frozenset(signal.template or signal.action for signal in signals) - {""}

    def _score(self, skill: str, action: str) -> float:
        return self._index.scores(dict.fromkeys(_words_of_action(action), 1.0))[skill]

    def _is_elsewhere(self, skill: str, action: str) -> bool:
        near = self._index.nearest(dict.fromkeys(_words_of_action(action), 1.0))
        return near.name not in {"", skill} and near.margin >= MARGIN and not self._score(skill, action)

    # -- signals ---------------------------------------------------------------------------------------

    def _given(self, signal: SignalRaised, shown: Sequence[EpisodeRecord]) -> Route | None:
        given = self.assigned.get(signal.fingerprint)
        if given is None or given.skill not in {*self.skills, *self.others}:
            return None
        if self._shows(given.skill, shown):
            return Route(given.skill, "person", f"assigned by {given.actor.partition(':')[2] or 'a person'}")
        return Route("", "", f"assigned to {given.skill}, but its logs are listed for other skills")

    def _about(self, signal: SignalRaised) -> Route | None:
        if signal.kind == REPEATED_WISH:
            return Route("", "", "a person takes its line: germline start")
        about = version_about(signal)
        named = about[0] if about else signal.action if signal.kind in ABOUT_A_SKILL else ""
        if named in {*self.skills, *self.others}:
            return Route(named, "about", f"it is about {named}")
        return Route("", "", f"it is about {named}, which is no skill here") if about else None

    def _listed(self, shown: Sequence[EpisodeRecord]) -> Route | None:
        """Go by the settings where most of the episodes are in logs that are listed for a skill."""
        if not self.globs.of:
            return None
        listed = [owners for record in shown if (owners := self._listed_for(self._log_of(record)))]
        counts = Counter(name for owners in listed for name in owners)
        if not counts or 2 * len(listed) < len(shown):
            return None
        skill = min(counts, key=lambda name: (-counts[name], name))
        return Route(
            skill, "setting", f"{counts[skill]:,} of {len(shown):,} episodes are in logs listed for {skill}"
        )

    def _by_rule(
        self, signal: SignalRaised, open_to: Sequence[str], shown: Sequence[EpisodeRecord], *, answered: bool
    ) -> Route:
        answering = self.triggers.get(signal.fingerprint, "")
        if answered and answering in {*open_to, *self.others}:
            return Route(answering, "trigger", f"a section of {answering} answers it")
        if len(self.skills) == 1 and open_to and not self.instructions:
            return Route(open_to[0], "only", "the only skill")
        return self._loaded(open_to, shown) or self._by_content(signal, open_to, shown)

    @staticmethod
    def _loaded(open_to: Sequence[str], shown: Sequence[EpisodeRecord]) -> Route | None:
        loaded = Counter(name for record in shown for name, _ in record.skills if name in open_to)
        skill = min(loaded, key=lambda name: (-loaded[name], name), default="")
        why = f"loaded in {loaded[skill]:,} of {len(shown):,} episodes that show it"
        return Route(skill, "loaded", why) if skill else None

    def _by_content(self, signal: SignalRaised, open_to: Sequence[str], shown: Sequence[EpisodeRecord]) -> Route:
        near = self._index.nearest(self._words_of_signal(signal, shown)) if self.texts else Nearest()
        if near.name in open_to and near.margin >= MARGIN:
            return Route(near.name, "content", f"words: {', '.join(near.shared)}", near.margin)
        if near.name and near.name not in open_to and near.margin >= MARGIN:
            why = f"its words are those of {near.name}, its logs another skill's"
        elif near.name:
            why = f"nearest is {near.name}, by less than {MARGIN:g}"
        else:
            why = "it shares no word with a skill" if self.skills else "there is no skill yet"
        lead = near.margin if near.name else None
        read = Counter(name for record in shown for name, _ in record.skills if name in self.others)
        if instructions := min(read, key=lambda name: (-read[name], name), default=self.instructions):
            return Route(instructions, "instructions", f"{why}: the project's instructions", lead)
        return Route("", "", why, lead)

    @cached_property
    def _index(self) -> TextIndex:
        return TextIndex(self.texts)

    # -- logs ------------------------------------------------------------------------------------------

    def _counts(self, skill: str, log: _Log) -> bool:
        if listed := self._listed_for(log):
            return skill in listed
        if skill in self.globs.of:
            return False
        owners = self._owners(log)
        also = self._by_origin.also.get((log.place, log.trust), ())
        return not owners or skill in owners or skill in also or skill not in self.skills

    def _owners(self, log: _Log) -> frozenset[str]:
        """Name the skills whose log it is; none where that is not known, or there is one skill."""
        return self._listed_for(log) or self._by_origin.owners.get((log.place, log.trust), frozenset())

    def _listed_for(self, log: _Log) -> frozenset[str]:
        return self.globs.owners(log.place) | self.globs.owners(log.source)

    @cached_property
    def _placed(self) -> list[tuple[_Log, EpisodeRecord]]:
        """The episodes, each with its log."""
        return [(self._log_of(record), record) for record in self.records]

    def _log_of(self, record: EpisodeRecord) -> _Log:
        return _Log(self.places.get(record.id, record.source), record.source, record.trust)

    @cached_property
    def _by_origin(self) -> _OriginOwners:
        """Find whose log each is: whose skill its sessions load, whose words they show, whose signal it shows.

        A skill that none is known to be of may learn from those that show what its sections answer.
        """
        if len(self.skills) < 2:  # noqa: PLR2004 - one skill has no other's logs
            return _OriginOwners({}, {})
        rest = [moved_to(record, log.place) for log, record in self._placed if not self._listed_for(log)]
        origin_of = origins_of(rest)
        origins: defaultdict[tuple[str, str], list[EpisodeRecord]] = defaultdict(list)
        for record in rest:
            origins[origin_of(record), record.trust].append(record)
        given = self._shown_of({name: known.skill for name, known in self.assigned.items()})
        owned = {
            origin: self._owners_of(members) | frozenset().union(*(given[member.id] for member in members))
            for origin, members in origins.items()
        }
        without = set(self.skills).difference(*owned.values())
        answered = {name: skill for name, skill in self.triggers.items() if skill in without}
        shown = self._shown_of(answered)
        also = {
            origin: frozenset().union(*(shown[member.id] for member in members))
            for origin, members in origins.items()
        }
        keys = {((record.source, record.trust), (origin_of(record), record.trust)) for record in rest}
        return _OriginOwners({key: owned[at] for key, at in keys}, {key: also[at] for key, at in keys})

    def _shown_of(self, skill_of: Mapping[str, str]) -> defaultdict[str, set[str]]:
        """Name the skills of the signals that episodes show, by episode; `skill_of` is that of a fingerprint."""
        shown: defaultdict[str, set[str]] = defaultdict(set)
        for signal in self.raised:
            if (skill := skill_of.get(signal.fingerprint)) in self.skills:
                for record in self.sightings.of(signal):
                    shown[record.id].add(skill)
        return shown

    def _owners_of(self, members: Sequence[EpisodeRecord]) -> frozenset[str]:
        loaded = {name for record in members for name, _ in record.skills if name in self.skills}
        scores = self._index.scores(self._words_of_actions(members))
        best = max(scores.values())
        near = {name for name, score in scores.items() if best >= MARGIN and 2 * score >= best}
        return frozenset(loaded | near)

    # -- words -----------------------------------------------------------------------------------------

    def _words_of_signal(self, signal: SignalRaised, shown: Sequence[EpisodeRecord]) -> dict[str, float]:
        """Weigh the words of a signal: its error and its action, and half of what is called in its episodes."""
        beside = self._words_of_actions(shown[:_LOOKED_AT])
        own = [*words_of(signal.template.replace("<*>", " ")), *_words_of_action(signal.action)]
        return {word: _BESIDE * share for word, share in beside.items()} | dict.fromkeys(own, 1.0)

    def _words_of_actions(self, records: Sequence[EpisodeRecord]) -> dict[str, float]:
        """Weigh the words of what agents call, by the share of the episodes that do."""
        called = Counter[str]()
        for calls, episodes in Counter(map(self._calls_of, records)).items():  # most call the same
            called.update(dict.fromkeys(calls, episodes))
        words: dict[str, float] = {}
        for action, count in called.items():
            for word in _words_of_action(action):
                words[word] = max(words.get(word, 0.0), count / len(records))
        return words

    def _calls_of(self, record: EpisodeRecord) -> frozenset[str]:
        """Name what an episode calls; read once, for the same episodes show many signals."""
        if record.id not in self._called:
            calls = {step.action for step in record.steps if step.kind == "call"}
            self._called[record.id] = frozenset(calls)
        return self._called[record.id]


def scope_of(
    library: Library,
    records: Sequence[EpisodeRecord],
    globs: LogGlobs | None = None,
    raised: Sequence[SignalRaised] | None = None,
) -> Scope:
    """Read the scope of some episodes from a registry and the settings; `raised` are all signals, if at hand."""
    capsules = [library.capsule(name) for name in library.live_names()]
    skills = [capsule for capsule in capsules if is_skill_name(capsule.name)]
    whole = [capsule.name for capsule in capsules if covers_project(capsule.name)]
    answering = {
        trigger.fingerprint: capsule.name
        for capsule in reversed(capsules)  # the first by name counts
        for gene in capsule.genes
        for trigger in gene.triggers
    }
    names = tuple(capsule.name for capsule in skills)
    known_globs = (globs or LogGlobs()).of_these(capsule.name for capsule in capsules)
    placed = len(names) > 1 or known_globs.of
    return Scope(
        records=under_versions(library, records),
        skills=names,
        globs=known_globs,
        assigned=assignments(library),
        triggers=answering,
        texts={capsule.name: _words_of_skill(capsule) for capsule in skills},
        raised=tuple(signal.event for signal in library.signals()) if raised is None else tuple(raised),
        places=library.log.episode_sources() if placed else {},
        others=tuple(capsule.name for capsule in capsules if capsule not in skills),
        instructions=whole[0] if whole else "",
    )


def _words_of_skill(capsule: Capsule) -> Mapping[str, float]:
    """Weigh the words of a skill: its name and description, and the lines that carry no claim."""
    words: Counter[str] = Counter()
    for text, weight in (
        (capsule.name, _NAMED),
        (description_of(capsule), _NAMED),
        *((line.text, 1.0) for gene in capsule.genes for line in gene.lines if not claims_of(gene, line)),
    ):
        for word in words_of(text):
            words[word] += weight  # type: ignore[assignment] # a counter of weights
    return words


@lru_cache(maxsize=4_096)  # the same few hundred classes of action show beside every signal
def _words_of_action(action: str) -> tuple[str, ...]:
    return tuple(word for word in words_of(action) if word not in _ANY_TOOL)
