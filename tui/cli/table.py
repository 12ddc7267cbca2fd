"""The commands: in which module each one lives, and what it does in one line.

A command's module is imported when the command is run, never for the list of commands: so a module may import
whatever its command needs, and reading commands stay fast.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Entry(NamedTuple):
    """Where a command lives, and the first line of its help."""

    module: str
    summary: str


COMMANDS: Final[dict[str, Entry]] = {
    "init": Entry("start", "Create a registry here; say which logs and skills could go in."),
    "demo": Entry("demo", "Tell the whole story on recorded logs, offline, in seconds."),
    "import": Entry("start", "Import skill folders; each is projected where it came from."),
    "import-gep": Entry("gep_importing", "Import genes of Evolver (GEP) as skills, unproven."),
    "status": Entry("status", "Show skills, drift, open signals, what waits, the preset."),
    "scan": Entry("scanning", "Read logs into episodes and signals."),
    "watch": Entry("watching", "Read logs as they grow, until it is stopped."),
    "signals": Entry("found", "List the signals that were raised, with counts and evidence."),
    "advise": Entry("advising", "Say what to work on, from how runs failed."),
    "evolve": Entry("evolving", "Take turns of evolution: scan, select, propose, gate, project."),
    "candidates": Entry("found", "List what was proposed; what waits for review comes first."),
    "candidate": Entry("candidate", "Show one candidate, and approve or reject it."),
    "gate": Entry("gate", "Measure how often the gate is wrong; explain its verdicts."),
    "judge": Entry("judging", "Calibrate a model as judge; say what it may do."),
    "compare": Entry("comparing", "Run the same sealed tasks under several models and versions."),
    "export": Entry("exporting", "Export a skill, the log or runs; attest a version."),
    "score": Entry("scoring", "Measure a version by replay, and record it."),
    "log": Entry("questions", "Show the history, of all or of one skill, newest first."),
    "show": Entry("questions", "Print a skill at any version; with --blame, line by line."),
    "diff": Entry("differing", "Compare two versions by line and word, and the events between."),
    "why": Entry("questions", "Explain one line: who, when, on what evidence, did it help?"),
    "search": Entry("searching", "Find a text in what skills say and said, and in reasons."),
    "report": Entry("reporting", "Write one HTML page of all there is to say; no network."),
    "revert": Entry("reverting", "Go back to what an earlier version said, by a new event."),
    "pick": Entry("drawing", "Pick the version for the next agent; print its folder."),
    "alias": Entry("aliases", "Name versions: movable names, with their history."),
    "protect": Entry("protecting", "Forbid edits of lines, until they are released."),
    "release": Entry("protecting", "End the protection of lines."),
    "outcome": Entry("outcomes", "Record how an episode ended, as CI, a merge or a person says."),
    "evidence": Entry("evidence", "Show and erase the texts that signals refer to."),
    "preset": Entry("presets", "List, show, preview, use and define presets."),
    "config": Entry("settings", "Show every setting, its value, and what said so."),
    "doctor": Entry("doctor", "Say what is set up, what is missing, what mends it."),
    "verify": Entry("verifying", "Check every event, link and stored content of the registry."),
    "checkpoint": Entry("checkpointing", "Say what the log holds now, to be kept elsewhere."),
    "backup": Entry("backing_up", "Copy the registry into one file, verified, while in use."),
    "restore": Entry("backing_up", "Put a backup in the place of the registry, kept aside."),
    "copy": Entry("copying", "Copy a registry to another place or database, byte for byte."),
    "project": Entry("disk", "Write the files of skills anew from the log."),
    "adopt": Entry("disk", "Take in what a person edited in the projected files."),
    "ui": Entry("screens", "Open the screens."),
    "help": Entry("completion", "Show the help of a command: description, options, examples."),
    "completion": Entry("completion", "Complete commands, skills, versions and ids in your shell."),
}
