"""Ports and the like that processes running tests at once must not share.

All tests, or those of a folder or a marker, are spread over the cores, file by file; a file, a test
or -k asks for few and has them at once, in one process.
"""

import socket
from pathlib import Path


def is_for_few(files: list[str], keyword: str) -> bool:
    """Whether only some tests are asked for, so that starting workers would take longest.

    files: what the command line names: folders, files or tests. keyword: that of -k.
    """
    names_no_folder = bool(files) and not any(Path(name).is_dir() for name in files)
    return bool(keyword) or names_no_folder


def free_port() -> int:
    """A port of 127.0.0.1 that nobody has; Gradio alone would take the first from 7860 on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
