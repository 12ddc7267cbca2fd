"""What a line of a script runs, reaches and reads, for a person to see line by line; it is no verdict."""

from __future__ import annotations

from functools import cache
from typing import Final

import re2

_SUFFIXES: Final = tuple(
    f".{ending}"
    for ending in (
        *("sh", "bash", "zsh", "fish", "ksh", "ps1", "psm1", "bat", "cmd", "applescript", "awk"),
        *("py", "pyw", "js", "mjs", "cjs", "ts", "rb", "pl", "php", "lua", "r"),
    )
)
_COMMENT: Final = ("#", "//", "--", "::", "rem ", "REM ")
_EXECUTABLE: Final = 0o111

REACHES: Final = {
    "runs what it downloads": (
        r"\b(?:curl|wget|iwr|invoke-webrequest)\b[^|;]*\|\s*(?:sudo\s+)?(?:\w*sh|python[0-9.]*|perl|ruby"
        r"|node|iex)\b"
        r"|\b(?:ba|z)?sh\s+(?:-c\s+)?[\"']?(?:<|\$)\(\s*(?:curl|wget)|\b(?:eval|exec|iex)\b.*\b(?:curl"
        r"|wget|urlopen|requests\.|fetch\()"
        r"|\b(?:eval|exec)\s*\(?.*(?:b64decode|atob\(|fromhex|base64 (?:-d|--decode))|base64 (?:-d"
        r"|--decode)\s*\|\s*\w*sh\b"
        r"|\b(?:pickle|marshal)\.loads?\("
    ),
    "runs commands": (
        r"\bsubprocess\b|\bos\.(?:system|popen|exec\w+|spawn\w+)\(|\bchild_process\b|\bexecSync\("
        r"|\bspawn(?:Sync)?\("
        r"|\b(?:eval|exec)\s*[(\"'$`]|\bshell=True|\bInvoke-Expression\b|\bstart-process\b|\bbackticks\b"
        r"|\bsystem\("
    ),
    "reaches the network": (
        r"\b(?:curl|wget|nc|ncat|netcat|telnet|ssh|scp|sftp|rsync|ftp|nslookup|dig)\s|\bhttps?://|\bftp://"
        r"|\bsocket\."
        r"|\b(?:requests|httpx|urllib|aiohttp|http\.client|smtplib|ftplib|paramiko|websockets?)\b"
        r"|\bfetch\(|\burlopen\("
        r"|\bXMLHttpRequest\b|/dev/(?:tcp|udp)/|\bInvoke-WebRequest\b|\b(?:pip3?|npm|npx|uvx|gem|apt-get"
        r"|apt|brew) (?:-\S+ )*install\b|\b(?:npx|uvx) "
    ),
    "reads keys or secrets": (
        r"\.ssh\b|\bid_(?:rsa|ed25519)\b|\.aws\b|\.netrc\b|\.npmrc\b|\.pgpass\b|\.gnupg\b|\.kube\b|(?:^"
        r"|[^\w.])\.env\b|/etc/shadow"
        r"|\bkeychain\b|\bkeyring\b|\b\w*(?:API_?KEY|ACCESS_KEY|SECRET|TOKEN|PASSWORD|PASSWD|CREDENTIALS?)\b"
    ),
    "reads the environment": (
        r"\bos\.environ\b|\bos\.getenv\(|\bprocess\.env\b|(?:^|[\s;|&])(?:printenv|env)(?:\s*$|\s*\|)"
        r"|\bENV\[|\$env:"
    ),
    "reaches the home folder": (
        r"(?:^|[\s\"'=(:])~(?:/|\s|$)|\$\{?HOME\b|\bexpanduser\(|\bPath\.home\(|\bhomedir\(|%USERPROFILE%"
        r"|/home/\w|/Users/\w"
    ),
    "deletes": (
        r"\brm\s+-|\brm\s+\S|\brmdir\b|\bshred\b|\bunlink\b|\brmtree\(|\bos\.remove\(|\bfs\.(?:rm|unlink"
        r"|rmdir)\w*\(|-delete\b"
        r"|\btruncate\b|\bgit (?:clean|reset --hard)\b|\b(?i:drop (?:table|database|schema)|delete from)\b"
        r"|\bRemove-Item\b|\bmkfs\b|\bdd\s+\S*of="
    ),
    "takes more rights": (
        r"\bsudo\b|\bdoas\b|\bsu -|\bsetuid\(|\bchmod\s+\S*(?:[4-7]?777|\+s|a\+)|\bchown\b|\bsudoers\b"
        r"|\brunas\b|--privileged\b|\bsetcap\b"
    ),
    "stays": (
        r"\bcrontab\b|/etc/cron|\.(?:bashrc|zshrc|profile|bash_profile|zprofile)\b|\bauthorized_keys\b"
        r"|\bsystemctl\s+enable|\blaunchctl\b"
        r"|\bLaunchAgents\b|\.git/hooks|\bcore\.hooksPath\b|\bnohup\b|\bdisown\b|\bschtasks\b"
        r"|\bCurrentVersion\\+Run\b|\b(?:CLAUDE|AGENTS)\.md\b"
    ),
}
"""What a person should see of a script, by what it is called."""


@cache
def _set() -> re2.Set:
    options = re2.Options()
    options.max_mem = 64 << 20
    reaches = re2.Set.SearchSet(options)
    for pattern in REACHES.values():
        reaches.Add(pattern)
    reaches.Compile()
    return reaches


def is_script(path: str, first_line: str, mode: int) -> bool:
    """Tell whether a file is one that is run: by its ending, its first line, or its mode bits."""
    return path.lower().endswith(_SUFFIXES) or first_line.startswith("#!") or bool(mode & _EXECUTABLE)


def reaches(line: str) -> tuple[str, ...]:
    """Name what a line of a script runs, reaches and reads; nothing for a comment."""
    if line.lstrip().startswith(_COMMENT):
        return ()
    names = tuple(REACHES)
    return tuple(names[at] for at in sorted(_set().Match(line[:10_000]) or ()))
