"""Terms: each word that the screens use in a sense of its own, in one sentence; help lists those in view."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Term(NamedTuple):
    """A term, the pattern by which a text uses it, and what it means."""

    name: str
    used: re.Pattern[str]
    meaning: str


def _term(name: str, meaning: str, used: str = "") -> Term:
    return Term(name, re.compile(used or rf"\b{name}s?\b"), meaning)


TERMS: Final = (
    _term("skill", "what an agent loads: a folder with a SKILL.md"),
    _term("gene", "a section of a skill with its lines; under presets: whether new sections may be written"),
    _term("claim", "what a line says will happen, put so that logs can show it to be wrong"),
    _term("signal", "something that keeps happening in logs, with the records that show it"),
    _term("open", "signals that no live line answers yet", r"\bopen\b"),
    _term("episode", "one run of an agent on one task, read from a log"),
    _term("outcome", "how a session ended, from 0 to 1, and whose word that is"),
    _term("candidate", "a proposed change of a skill, which is not live"),
    _term("gate", "the rule that turns measurements into a verdict"),
    _term("held", "neither promoted nor rejected: the logs cannot tell yet", r"\b(held|hold)\b"),
    _term("promoted", "became a version of its skill", r"\bpromoted?\b"),
    _term("explore", "the logs that proposers may read"),
    _term("sealed", "the logs that no proposer sees: on them the gate decides"),
    _term("audit", "logs that decide nothing and are reported beside, so that luck would show"),
    _term("score", "the share of sealed tasks that end well under a version, from 0 to 1"),
    _term("Δ", "how much the score changed, compared task by task", "Δ"),
    _term("covered", "the share of episodes in which a claim of the skill came up", r"\bcover(ed|age)\b"),
    _term("obeyed", "sessions that did what the line says, at the moment that it speaks of", r"\b(dis)?obeyed\b"),
    _term("seen", "it worked k of n times, and nothing was compared"),
    _term("supported", "logs speak for it, and every check passed"),
    _term("proven", "a coin, or runs of an agent, showed it"),
    _term("unproven", "? beside a version: nobody measured it", r"\bunproven\b|\?@"),
    _term("unwitnessed", "no log can show it to be wrong: it names no command or tool", r"\b(un)?witness(ed)?\b"),
    _term("stamp", "the lines in which germline says which version a file is", r"\bstamp\b"),
    _term("trial", "a coin gives a line to some sessions and denies it to others"),
    _term("preset", "the numbers that say which changes are tried, and what they must show", r"\bpresets?\b"),
    _term("weights", "of a hundred turns, those for repair, harden, innovate", r"\bweights\b|repair +harden"),
    _term("repair", "a change that answers what fails"),
    _term("harden", "a change that makes what works work everywhere"),
    _term("innovate", "a change that tries something new"),
    _term("edits", "lines that one change may touch, in the first cycle and in the last", r"\bedits\b"),
    _term("region", "trust region: the share of a skill's characters that one change may touch"),
    _term("alpha", "the risk that all questions to the logs together may be wrong with"),
    _term("E", "the least e-value of runs: how much likelier they are if it helps", r" E(?!\S)|\be-value\b"),
    _term("owed", "turns that a strategy has coming, by its weight"),
    _term("evaluator", "a frozen way to score, so that two versions meet the same ground"),
    _term("fact", "signals that speak of the same thing, in one row"),
    _term("lift", "how many times likelier failure is where the signal shows"),
    _term("alias", "a name for a version that can be moved, such as production", r"\balias(es)?\b"),
)  # fmt: skip


def terms_in(text: str) -> list[Term]:
    """List the terms that a text uses, in the order of the list."""
    return [term for term in TERMS if term.used.search(text)]
