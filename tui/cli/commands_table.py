"""The commands: in which module each one lives, and what it does in one line.

A command's module is imported when the command is run, never for the list of commands: so a module may import
whatever its command needs, and reading commands stay fast.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class CommandEntry(NamedTuple):
    """Where a command lives, and the first line of its help."""

    module: str
    summary: str


GROUPS: Final[dict[str, dict[str, CommandEntry]]] = {
    "Begin": {
        "init": CommandEntry(
            "skills.init_and_import", "Create a registry here; say which logs and skills could go in."
        ),
        "start": CommandEntry("logs.start", "Say what costs most here, and what worked next."),
        "demo": CommandEntry("registry.demo", "Tell the whole story on recorded logs, offline, in seconds."),
        "import": CommandEntry(
            "skills.init_and_import", "Import skills and instructions; each is projected in place."
        ),
        "import-gep": CommandEntry("evolve.import_gep", "Import genes of Evolver (GEP) as skills, unproven."),
        "ui": CommandEntry("registry.ui", "Open the screens."),
        "mcp": CommandEntry("agents.mcp", "Answer agents over stdio, by the Model Context Protocol."),
        "help": CommandEntry(
            "registry.completion_scripts", "Show the help of a command: description, options, examples."
        ),
        "completion": CommandEntry(
            "registry.completion_scripts", "Complete commands, skills, versions and ids in your shell."
        ),
    },
    "What agents did": {
        "scan": CommandEntry("logs.scan", "Read logs into episodes and signals."),
        "watch": CommandEntry("logs.watch", "Read logs as they grow, until it is stopped."),
        "sessions": CommandEntry("logs.sessions", "List the sessions that were read, newest first."),
        "session": CommandEntry("logs.sessions", "Show one session step by step, errors marked."),
        "signals": CommandEntry("evolve.signals", "List what recurs, a row for each fact; say whose it is."),
        "outcome": CommandEntry("logs.outcome", "Record how an episode ended, as CI, a merge or a person says."),
        "evidence": CommandEntry("logs.evidence", "Show and erase the texts that signals refer to."),
        "advise": CommandEntry("evolve.advise", "Say what to work on, from how runs failed."),
    },
    "What skills say, and why": {
        "status": CommandEntry("registry.status", "Show skills, drift, open signals, what waits, the preset."),
        "log": CommandEntry("skills.log", "Show the history, of all or of one skill, newest first."),
        "show": CommandEntry("skills.show", "Print a skill at any version; with --blame, line by line."),
        "diff": CommandEntry("skills.diff", "Compare two versions by line and word, and the events between."),
        "why": CommandEntry("skills.why", "Explain one line: who, when, on what evidence, did it help?"),
        "usage": CommandEntry("skills.usage", "Say which lines earn their place, by what sessions show."),
        "find": CommandEntry("skills.find", "Find the skills that fit a task, by their words."),
        "search": CommandEntry("skills.search", "Find a text in skills, past and present, and in reasons."),
        "report": CommandEntry("registry.report", "Write one HTML page of all there is to say; no network."),
    },
    "Learning from logs": {
        "evolve": CommandEntry("evolve.evolve", "Take turns of evolution: scan, select, propose, gate, project."),
        "candidates": CommandEntry(
            "evolve.candidates", "List what was proposed; what waits for review comes first."
        ),
        "candidate": CommandEntry("evolve.candidate", "Show one candidate, and approve or reject it."),
        "preset": CommandEntry("evolve.preset", "List, show, preview, use and define presets."),
        "gate": CommandEntry("evolve.gate", "Judge results of others; explain verdicts; say how it errs."),
        "judge": CommandEntry("evolve.judge", "Calibrate a model as judge; say what it may do."),
        "score": CommandEntry("evolve.score", "Measure a version by replay, and record it."),
    },
    "Learning from runs": {
        "train": CommandEntry("evolve.train", "Train a skill on tasks: run, propose, test, promote; again."),
        "research": CommandEntry("evolve.research", "Research files by experiments, and keep what gains."),
        "audit": CommandEntry("evolve.audit", "Audit a skill on tasks without graders, and mend it in drafts."),
        "tasks": CommandEntry("evolve.tasks", "List the tasks of a set by split; write them as evals."),
        "compare": CommandEntry("evolve.compare", "Run the same sealed tasks under several models and versions."),
        "models": CommandEntry("registry.models", "List models; say which skill goes with which of them."),
        "trial": CommandEntry("skills.trial", "Prove lines: a coin gives them to some sessions."),
        "skill": CommandEntry("skills.skill", "The life of skills: ledger, tests by runs, retirement."),
        "pick": CommandEntry("skills.pick", "Pick the version for the next agent; print its folder."),
    },
    "Changes by hand": {
        "adopt": CommandEntry("skills.project_and_adopt", "Take in what a person edited in the projected files."),
        "project": CommandEntry("skills.project_and_adopt", "Write the files of skills again from the log."),
        "revert": CommandEntry("skills.revert", "Go back to the text of an earlier version, by a new event."),
        "alias": CommandEntry("skills.alias", "Name versions: movable names, with their history."),
        "protect": CommandEntry("skills.protect", "Forbid edits of lines, until they are released."),
        "release": CommandEntry("skills.protect", "End the protection of lines."),
        "knowledge": CommandEntry("skills.knowledge", "Pack files as what a skill knows; check and remove them."),
        "index": CommandEntry("skills.index", "Lead agents to the right passage of a skill's files."),
    },
    "Keeping it safe": {
        "check": CommandEntry("registry.check", "Check files, lines and the log, for CI: exit code 3 says no."),
        "verify": CommandEntry("registry.verify", "Check every event, link and stored content of the registry."),
        "checkpoint": CommandEntry("registry.checkpoint", "Say what the log holds now, to be kept elsewhere."),
        "backup": CommandEntry("registry.backup", "Copy the registry into one file, verified, while in use."),
        "restore": CommandEntry("registry.backup", "Put a backup in the place of the registry, kept aside."),
        "copy": CommandEntry("registry.copy", "Copy a registry to another place or database, byte for byte."),
        "export": CommandEntry("registry.export", "Export a skill, the log or runs; attest a version."),
        "doctor": CommandEntry("registry.doctor", "Say what is set up, what is missing, what mends it."),
        "config": CommandEntry("registry.config", "Show every setting, its value, and what sets it."),
        "trust": CommandEntry("registry.trust", "Let a project's settings and registry take effect."),
    },
}
"""The commands by what they are for, in the order in which `--help` lists them."""

COMMANDS: Final = {name: entry for group in GROUPS.values() for name, entry in group.items()}
