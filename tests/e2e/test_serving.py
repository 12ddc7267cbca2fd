"""The screens in a browser: served to this machine, to who has the address, to their own pages, until Ctrl-C."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from tests.forked import ForkedCommand
from tests.story import tell
from tests.terminal import Terminal
from tui.screens.serve import address_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@pytest.fixture(scope="module")
def story(own_folder: Path) -> Path:
    return tell(own_folder)


@contextmanager
def served(
    story: Path, start: Sequence[str] = ()
) -> Iterator[tuple[ForkedCommand | subprocess.Popen[str], int, str]]:
    """Serve the story: gives the process, its port, and the secret path below which the pages are.

    The process is forked, but for `start`: the words that a `germline` is started with.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["ui", "--serve", "--bind", f"127.0.0.1:{port}"]
    environment, pipe = {**os.environ, "GERMLINE_REGISTRY": str(story)}, subprocess.PIPE
    with (
        subprocess.Popen([*start, *words], stdout=pipe, stderr=pipe, text=True, env=environment)
        if start
        else ForkedCommand(words, env=environment)
    ) as process:
        try:
            assert process.stdout is not None
            match = re.fullmatch(
                rf"serving    http://127.0.0.1:{port}(/[0-9a-f]{{64}}/) until ctrl\+c\n", process.stdout.readline()
            )
            assert match
            yield process, port, match[1]
        finally:  # a server that is killed cannot end the pages that it began
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


@contextmanager
def asked(port: int, path: str = "/", **headers: str) -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers=headers)
    with closing(connection), connection.getresponse() as response:
        yield response


def opened(port: int, path: str, **headers: str) -> int:
    """Open the WebSocket behind a page, as a page of some site would."""
    asking = {"Connection": "Upgrade", "Upgrade": "websocket", **headers}
    key = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13"}
    with asked(port, f"{path}ws", **asking, **key) as response:
        return response.status


def test_the_screens_are_served_on_loopback_to_their_own_pages_until_ctrl_c(story: Path) -> None:
    with served(story) as (process, port, path):
        assert process.stderr is not None
        warned = "warning    whoever has this address can read the registry, and append to it as "
        assert process.stderr.readline().startswith(warned)
        with asked(port, path) as page:
            assert page.status == 200
            text = page.read().decode()
            assert f"ws://127.0.0.1:{port}{path}ws" in text
            assert page.headers["Content-Security-Policy"].startswith("default-src 'self'")
            assert page.headers["Referrer-Policy"] == "no-referrer"
        with asked(port, f"{path}static/js/textual.js") as script:
            assert (f"{path}static/js/textual.js" in text, script.status) == (True, 200)
        for name in ("127.0.0.1", "localhost"):
            assert opened(port, path, Host=f"{name}:{port}", Origin=f"http://{name}:{port}") == 101
        process.send_signal(signal.SIGINT)
        assert (process.wait(60), process.stderr.read()) == (0, "")


def test_who_lacks_the_address_or_is_another_site_gets_nothing(story: Path) -> None:
    with served(story) as (_, port, path):
        guessed = f"/{'0' * 64}/"
        for tried in ("/", "/ws", "/static/js/textual.js", guessed, f"{guessed}ws", path[:-2], f"/x{path}"):
            with asked(port, tried) as refused:
                assert (refused.status, path.strip("/") in refused.read().decode()) == (403, False), tried
        assert opened(port, "/", Origin=f"http://127.0.0.1:{port}") == 403
        assert opened(port, path, Origin="http://elsewhere.example") == 403
        rebound = f"elsewhere.example:{port}"  # a name that was made to lead to 127.0.0.1
        assert opened(port, path, Host=rebound, Origin=f"http://{rebound}") == 403
        with asked(port, path, Host=rebound) as refused:
            assert refused.status == 403


def test_without_the_extra_the_hint_is_to_install_it(story: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    answer = Terminal(story.parent, GERMLINE_REGISTRY=str(story))("ui", "--serve")
    assert (answer.code, answer.hint) == (2, "pip install 'textual-serve<2,>=1.1'")


def test_an_address_that_is_taken_is_told_with_the_next_one(story: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        answer = Terminal(story.parent, GERMLINE_REGISTRY=str(story))(
            "ui", "--serve", "--bind", f"127.0.0.1:{port}"
        )
    assert answer.code == 2
    assert answer.hint == f"germline ui --serve --bind 127.0.0.1:{port + 1}"


@pytest.mark.parametrize("bind", ["8000", "127.0.0.1:0", "127.0.0.1:70000", "0.0.0.0:8000", "[::]:8000", "a b:80"])
def test_what_no_browser_could_be_sent_to_is_refused(story: Path, bind: str) -> None:
    answer = Terminal(story.parent, GERMLINE_REGISTRY=str(story))("ui", "--serve", "--bind", bind)
    assert answer.code == 2
    assert answer.hint.startswith("germline ui --serve --bind ")


@pytest.mark.parametrize(("bind", "loopback"), [("127.0.0.1:1", True), ("[::1]:80", True), ("10.0.0.7:80", False)])
def test_an_address_says_whether_others_reach_it(bind: str, *, loopback: bool) -> None:
    assert address_of(bind).is_loopback is loopback
    assert address_of(bind).url == f"http://{bind}"
    assert (bind.rpartition(":")[0] in address_of(bind).hosts) is bind.endswith(":80")
