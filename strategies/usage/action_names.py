"""ActionNames: the names by which people write the actions that logs hold, found in a line of instructions."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.episodes.action_class import KNOWN_COMMANDS, SHELL_TOOLS, SQL_TOOLS, shell_head, sql_head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from strategies.episodes.episode import EpisodeRecord

_ORDINARY: Final = frozenset(
    """
    bash black build bun call cat commit conda create cut date diff edit echo env fetch file find
    format get go head id insert jest join kill less list make merge more node open poetry prettier
    push query read ruby run search set show sort split stat submit tail task test time touch tree
    type update use view wait watch which write
    """.split()  # noqa: SIM905 - as a list these are forty lines
)
"""Names of commands and tools that are words as well: unless marked as code, a verb of use goes before them."""
_COMMANDS: Final = KNOWN_COMMANDS | frozenset(
    """
    awk black bun bunx chmod chown cp curl deno eslint flake8 gofmt gradle java jest kill mkdir mv
    mvn mypy node perl php psql pyright pytest python python3 redis-cli rg rm ruby ruff rsync sed
    sqlite3 ssh tar tox tsc vitest wget
    """.split()  # noqa: SIM905 - as a list these are forty lines
)
"""Commands that a line may name before any log shows them."""
_SYNONYMS: Final = (
    (
        r"(?:unit |integration )?tests?(?: suite)?|testing",
        "pytest|tox|jest|vitest|rspec|make test|npm test|pnpm test|yarn test|cargo test|go test|dotnet test",
    ),
    (r"lint(?:er|ers|ing)?", "ruff|eslint|flake8|pylint|make lint|golangci-lint"),
    (r"type[ -]?check(?:er|s|ing)?", "mypy|pyright|tsc"),
    (r"formatt(?:er|ing)", "black|prettier|gofmt|cargo fmt|make format"),
    (r"build(?:ing)?", "make build|cargo build|go build|dotnet build"),
    (r"commit(?:s|ting)?", "git commit"),
    (r"push(?:es|ing)?", "git push"),
    (r"rebas(?:e|es|ing)", "git rebase"),
)
"""Words for what is done, and the commands that do it: of these the one that logs hold most often is meant."""
_CODE: Final = re.compile(r"`([^`\n]{1,200})`")
_USED: Final = re.compile(
    r"\b(?:use|using|run|running|call|calling|prefer|not|over|than|of) (?:the )?$", re.IGNORECASE
)
_MARKED: Final = re.compile(r"\*\*|__(?=\S)|(?<=\S)__")


class Mention(NamedTuple):
    """An action that a line names: its class, and whether the words ask for less than all of that class.

    `narrow` is "" where they do not, `options` where only options and paths are named beside it, `more` else.
    """

    action: str
    narrow: str = ""


class MarkedText(NamedTuple):
    """A line in lower case with each mention replaced by its number, as `\u27e60\u27e7`."""

    text: str
    mentions: tuple[Mention, ...]


@dataclass(frozen=True)
class ActionNames:
    """The classes of action in some logs, each with the number of episodes that show it."""

    classes: Mapping[str, int]

    @classmethod
    def of(cls, records: Iterable[EpisodeRecord]) -> ActionNames:
        """Read the names that logs show."""
        shown = ({step.action for step in record.steps if step.kind == "call"} for record in records)
        return cls(Counter(action for actions in shown for action in actions if action))

    @cached_property
    def _names(self) -> dict[str, str]:
        """The class, or the family of classes, of each name; of several the commonest."""
        names: dict[str, str] = {}
        for action in sorted(self.classes, key=lambda action: (-self.classes[action], action)):
            tool, _, head = action.partition(":")
            for name, named in ((tool, tool), (tool.rpartition("__")[2], tool), (head, action)):
                names.setdefault(name, named)
            if " " in head:
                names.setdefault(head.split()[0], f"{tool}:{head.split()[0]}")
        if self._shell:
            names = {command: f"{self._shell}:{command}" for command in sorted(_COMMANDS)} | names
        names.pop("", None)
        return names

    @cached_property
    def _shell(self) -> str:
        """The tool by which agents run commands here, "" where they have none."""
        return self._tool_among(SHELL_TOOLS)

    def _tool_among(self, tools: frozenset[str]) -> str:
        shown: Counter[str] = Counter()
        for action, episodes in self.classes.items():
            shown[action.partition(":")[0]] += episodes
        return next((tool for tool, _ in shown.most_common() if tool.lower() in tools), "")

    @cached_property
    def _bare(self) -> re.Pattern[str]:
        """What finds a name that is not marked as code, the longest first."""
        names = "|".join(map(re.escape, sorted(self._names, key=len, reverse=True)))
        return re.compile(rf"(?<![\w./-])(?:{names or '(?!)'})(?![\w/-]|\.\w)")

    def marked(self, line: str, *, names_alone: bool = False) -> MarkedText:
        """Find what a line names; code that names no action is left as a sign without a number.

        With `names_alone` every name that could be a word is taken for a name.
        """
        mentions: list[Mention] = []

        def number(mention: Mention | None) -> str:
            if mention is None:
                return "\u27e6\u27e7"
            mentions.append(mention)
            return f"\u27e6{len(mentions) - 1}\u27e7"

        def bare(match: re.Match[str]) -> str:
            ordinary = not names_alone and match[0].lower() in _ORDINARY
            return (
                match[0]
                if ordinary and not _USED.search(text[: match.start()])
                else number(Mention(self._names[match[0]]))
            )

        text = _CODE.sub(lambda match: number(self._of_code(match[1].strip())), _MARKED.sub("", line))
        text = self._bare.sub(bare, text)
        for words, commands in _SYNONYMS:
            mention = self._commonest(commands)
            if mention is not None:
                numbered = partial(_numbered, number, mention)
                text = re.sub(rf"(?i)(?<![\w-])(?:{words})(?![\w-])", numbered, text)
        return MarkedText(" ".join(text.lower().split()), tuple(mentions))

    def _of_code(self, code: str) -> Mention | None:
        """Read what is marked as code: a tool, a statement or a command; None where logs hold no such thing."""
        if code in self._names:
            return Mention(self._names[code])
        sql = self._tool_among(SQL_TOOLS)
        if sql and (head := sql_head(code)):
            return Mention(f"{sql}:{head}", "" if head == code.rstrip(";").upper() else "more")
        head = shell_head(code)
        if not self._shell or not (head in self._names or head.partition(" ")[0] in self._names):
            return None
        rest = code.removeprefix(head).split() if code.startswith(head) else ["&&"]
        options = all(word.startswith("-") or "/" in word or "." in word for word in rest)
        return Mention(
            self._names.get(head, f"{self._shell}:{head}"), "" if not rest else "options" if options else "more"
        )

    def _commonest(self, commands: str) -> Mention | None:
        """Give the class of the command that logs show most; what git does is known without them."""
        heads = commands.split("|")
        shown = [action for action in self.classes if action.partition(":")[2] in heads]
        if shown:
            return Mention(max(shown, key=lambda action: (self.classes[action], action)))
        return Mention(f"{self._shell}:{heads[0]}") if self._shell and heads[0].startswith("git ") else None


def _numbered(number: Callable[[Mention], str], mention: Mention, _: re.Match[str]) -> str:
    return number(mention)
