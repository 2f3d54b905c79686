"""The file server of the commands that measure the site."""

import socket
import struct
import time

import pytest

from scripts.browser.site_pages import Files, Server, serving

AT_ONCE = struct.pack("ii", 1, 0)
"""SO_LINGER: closing resets the connection."""


@pytest.fixture
def server(tmp_path):
    with serving(Server(tmp_path)) as found:
        yield found


def ask(server: Server, words: bytes) -> socket.socket:
    connection = socket.create_connection(server.server_address[:2], timeout=20)
    connection.sendall(words)
    return connection


def test_a_client_that_hangs_up_is_no_error(server, capsys, monkeypatch):
    ends = []
    finish = server.shutdown_request
    monkeypatch.setattr(server, "shutdown_request", lambda r: (finish(r), ends.append(r)))
    with ask(server, b"GET / HT") as connection:
        time.sleep(0.1)  # its server waits for the rest of the line
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    deadline = time.monotonic() + 20
    while not ends:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert capsys.readouterr().err == ""


def test_any_other_error_of_the_server_is_told(server, capsys, monkeypatch):
    def broken(_) -> None:
        raise ValueError("a file that is none")

    monkeypatch.setattr(Files, "do_GET", broken)
    with ask(server, b"GET / HTTP/1.1\r\n\r\n") as connection:
        assert connection.recv(1) == b""
    assert "ValueError: a file that is none" in capsys.readouterr().err
