"""A server on one port that is killed and started anew, over and over.

The next process loads everything while the one before it serves, and waits for its turn.
"""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tests.workers import free_port

READY = "ready"


class Restarted:
    """The scripted model's page on a port of its own.

    seconds: what each start adds to a forward pass; it is started as often as there are some.
    """

    def __init__(self, seconds: Sequence[float]) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._command = [sys.executable, "-m", "tests.campaign.parts.restarts", str(port)]
        self._left = list(seconds)
        self._processes: list[subprocess.Popen[str]] = []  # the one that serves, then those to come
        self._prepare()
        self._prepare()

    def _prepare(self) -> None:
        if self._left:
            command = [*self._command, str(self._left.pop(0))]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            self._processes.append(
                subprocess.Popen(command, text=True, stderr=subprocess.DEVNULL, **pipes)
            )

    def start(self) -> None:
        """Serve from the first process."""
        begin(self._processes[0])

    def restart(self) -> None:
        """Kill the process that serves, and serve from the next one."""
        kill(self._processes.pop(0))
        begin(self._processes[0])
        self._prepare()

    def close(self) -> None:
        """End every process."""
        for process in self._processes:
            kill(process)


def begin(process: subprocess.Popen[str]) -> None:
    """It is this process's turn; wait until it serves."""
    assert process.stdin
    assert process.stdout
    process.stdin.write("go\n")
    process.stdin.flush()
    if all(line.strip() != READY for line in process.stdout):
        raise RuntimeError("the server did not start")


def kill(process: subprocess.Popen[str]) -> None:
    """End a process, whatever it does."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe:
            pipe.close()


@contextmanager
def restarted(seconds: Sequence[float]) -> Iterator[Restarted]:
    """The server, not yet started; ended at the end. seconds: see Restarted."""
    server = Restarted(seconds)
    try:
        yield server
    finally:
        server.close()


def main() -> None:
    """Load everything, wait for a line, serve until killed or left alone."""
    from tests.ui.doubles import slowed, story_model
    from ui import page

    port, seconds = sys.argv[1:]
    demo = page.build(slowed(story_model(), float(seconds)))
    if not sys.stdin.readline():
        return
    address = {"server_name": "127.0.0.1", "server_port": int(port)}
    demo.launch(prevent_thread_lock=True, quiet=True, **address, **page.launch_options())
    print(READY, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
