"""Serves the page. Flags and address are checked first, and the model is loaded last."""

import argparse
import errno
import os
import re
import signal
import socket
import sys
from contextlib import suppress
from ipaddress import ip_network
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if __name__ == "__main__":
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # while the rest is imported

from sbd_core.cli.output import interruptible, with_output
from sbd_core.errors import ArgumentError, SetBlockDecodingError, require_extra
from ui.doors import is_loopback

if TYPE_CHECKING:
    from ui.models import Models

SECONDS_TO_OPEN = 3.0
MAX_PORT = 65_535
SPACE_PROXIES = "10.0.0.0/8"


def arguments() -> argparse.Namespace:
    """Parse the command line. Environment variables may set the default host and port."""
    is_space = "SPACE_ID" in os.environ
    host = os.environ.get("GRADIO_SERVER_NAME")
    port = os.environ.get("GRADIO_SERVER_PORT", "7860")
    parser = argparse.ArgumentParser(description="Watch Set Block Decoding in the browser.")
    parser.add_argument(
        "--model",
        help="folder or hub id of a model or adapter that the page opens with; the bundled models "
        "stay in its switch (default: a bundled one)",
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N")
    parser.add_argument(
        "--public",
        action="store_true",
        default=is_space,
        help="for strangers: listen on every address, with tighter limits; always so in a Space",
    )
    parser.add_argument(
        "--host",
        default=host,
        help="address to listen on; GRADIO_SERVER_NAME, else 127.0.0.1, or 0.0.0.0 with --public",
    )
    parser.add_argument(
        "--trusted-proxies",
        metavar="ADDRESSES",
        default=os.environ.get("SBD_TRUSTED_PROXIES", SPACE_PROXIES if is_space else ""),
        help="proxies whose X-Forwarded-For says who a visitor is, as addresses or networks with "
        "commas between; SBD_TRUSTED_PROXIES, else none, or those of a Space in one",
    )
    parser.add_argument("--port", default=port, help="GRADIO_SERVER_PORT, else %(default)s")
    parser.add_argument(
        "--root-path",
        default=os.environ.get("GRADIO_ROOT_PATH", ""),
        help="path below which a proxy shows the page, such as /sbd; GRADIO_ROOT_PATH, else none",
    )
    flags = parser.parse_args()
    flags.host = flags.host or ("0.0.0.0" if flags.public else "127.0.0.1")
    return flags


def checked_port(value: object) -> int:
    """Return `value` as a port number. Raises ArgumentError if it is not one."""
    text = str(value)
    port = int(text) if text.isascii() and text.isdigit() and len(text) <= 5 else 0
    if not 1 <= port <= MAX_PORT:
        raise ArgumentError("port", f"must be a whole number from 1 to {MAX_PORT}", value)
    return port


def checked_root_path(path: str) -> str:
    """Return the path of a root path or URL, without slash at its end. Raises ArgumentError."""
    found = urlsplit(path).path.rstrip("/")
    if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)*", found):
        raise ArgumentError("root_path", "must be a path such as /sbd", path)
    return found


def checked_proxies(text: str) -> str:
    """Check "10.0.0.0/8, 127.0.0.1" or the like, and write it as uvicorn reads it; "" for none.

    A server of IPv6 sees a proxy of IPv4 under a mapped address. Raises ArgumentError.
    """
    try:
        parts = [part.strip() for part in text.split(",") if part.strip()]
        networks = [ip_network(part, strict=False) for part in parts]
    except ValueError as error:
        rule = "must be addresses or networks with commas between, such as 127.0.0.1,10.0.0.0/8"
        raise ArgumentError("trusted_proxies", rule, text) from error
    mapped = [f"::ffff:{n[0]}/{96 + n.prefixlen}" for n in networks if n.version == 4]
    return ",".join([*map(str, networks), *mapped])


def check_address(host: str, port: int) -> None:
    """Raise ArgumentError, with the reason, if this machine cannot listen on the host and port."""
    try:
        family, kind, *_, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(place)
    except (socket.gaierror, UnicodeError) as error:
        raise ArgumentError("host", "must be a name or an address", host) from error
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ArgumentError("port", "is in use; choose another", port) from error
        if error.errno == errno.EACCES:
            raise ArgumentError("port", "needs rights that you do not have", port) from error
        raise ArgumentError("host", "must be an address of this machine", host) from error


def load_while_serving(models: "Models") -> BaseException | None:
    """Load the page's first model while the page is already served; return the error, if any.

    As loading slows the page down, the function first gives a visitor's page SECONDS_TO_OPEN;
    a visitor who needs the model before that begins to load it.
    """
    models.first.wait(SECONDS_TO_OPEN)
    models.first.load()
    return models.first.failure


def main() -> int:
    """Serve the page until the user stops it. Returns 2 if there was an error.

    If the model fails to load after the page is served, the page stays up and says why.
    """
    flags, failure = arguments(), None
    from ui.zero_gpu import before_torch

    before_torch()
    from ui.models import models_of

    try:
        require_extra("ui")
        port = checked_port(flags.port)
        proxies = checked_proxies(flags.trusted_proxies)
        check_address(flags.host, port)
        root_path = checked_root_path(flags.root_path)
        models = models_of(flags.model, flags.device)
        from ui import server

        page = server.build(
            models,
            is_public=flags.public,
            trusted=proxies,
            is_local=is_loopback(flags.host) and not flags.public and not proxies,
            root_path=root_path,
        )
        print(f"* Running on local URL:  {server.serve(page, flags.host, port)}", flush=True)
        failure = load_while_serving(models)
        for model in models:
            model.export(is_public=flags.public)
        with suppress(KeyboardInterrupt):  # Ctrl-C before Gradio waits for it
            if failure is not None:
                print(f"app.py: {failure}\nThe page says so; stop it with Ctrl-C.", file=sys.stderr)
            page.get_blocks().block_thread()
    except (SetBlockDecodingError, OSError) as error:
        print(f"app.py: {error}", file=sys.stderr)
        return 2
    return 2 if failure else 0


if __name__ == "__main__":
    # A model that is still being loaded in its thread can abort an interpreter that exits.
    os._exit(interruptible(lambda: with_output(main)))
