"""The screens in a browser: served to this machine alone, to their own pages alone, until Ctrl-C."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.story import tell
from tests.terminal import Terminal
from tui.screens.serve import address_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tell(tmp_path_factory.mktemp("served"))


@contextmanager
def served(
    story: Path, start: Sequence[str] = (sys.executable, "-m", "tui.cli.main")
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*start, "ui", "--serve", "--bind", f"127.0.0.1:{port}"]
    environment = {**os.environ, "GERMLINE_REGISTRY": str(story)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield process, port
        finally:
            process.kill()


@contextmanager
def asked(port: int, path: str = "/", **headers: str) -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers=headers)
    with closing(connection), connection.getresponse() as response:
        yield response


def opened(port: int, origin: str) -> int:
    """Open the WebSocket behind a page, as a page of some site would."""
    asking = {"Connection": "Upgrade", "Upgrade": "websocket", "Origin": origin}
    key = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13"}
    with asked(port, "/ws", **asking, **key) as response:
        return response.status


def test_the_screens_are_served_on_loopback_to_their_own_pages_until_ctrl_c(story: Path) -> None:
    with served(story) as (process, port):
        assert process.stderr is not None
        assert process.stderr.readline() == f"serving    http://127.0.0.1:{port}, until ctrl+c\n"
        warned = "warning    whoever reaches it can read this registry, and append to it as "
        assert process.stderr.readline().startswith(warned)
        with asked(port) as page:
            assert page.status == 200
            assert f"ws://127.0.0.1:{port}/ws" in page.read().decode()
            assert page.headers["Content-Security-Policy"].startswith("default-src 'self'")
        assert opened(port, "http://elsewhere.example") == 403
        assert opened(port, f"http://127.0.0.1:{port}") == 101
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        assert (process.returncode, said) == (0, "")


def test_without_the_extra_the_hint_is_to_install_it(story: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    answer = Terminal(story.parent, GERMLINE_REGISTRY=str(story))("ui", "--serve")
    assert (answer.code, answer.hint) == (2, "pip install 'germline[serve]'")


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
