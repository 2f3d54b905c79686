"""Hostile command lines and start-up faults: each ends in one line and a known exit status."""

import io
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from shutil import copytree

from sbd_core.__main__ import main
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT
from tests.campaign.figure import Figure

ROOT = Path(__file__).parents[3]
KNOWN = {0, 2, 130}
SERVED = "stop it with Ctrl-C"
"""What a page says that is served without its model."""
MAX_SECONDS = 60
MAX_BYTES = 16 * 2**30
"""Of addresses; PyTorch reserves a few of them."""
HUGE = "9" * 400
NUMBERS = [
    "0",
    "-1",
    "1",
    "2.5",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "1e400",
    HUGE,
    "x",
    "",
    " ",
    "²",
    "0x10",
]
WORDS = [
    "x",
    "",
    " ",
    "\x00",
    "a" * 10_000,
    "../..",
    "/dev/null",
    "/dev/full",
    "/proc/self/mem",
    "~",
    "é\n",
]
FLAGS = {
    "generate": {
        "numbers": ["--gamma", "--tau", "--factor", "--reveals", "--block-size", "--max-new-tokens",
                    "--temperature", "--seed"],
        "words": ["--model", "--device", "--dtype", "--strategy", "--solver", "--by", "--pin",
                  "--trace"],
        "always": ["generate", "a", "--max-new-tokens", "4"],
    },
    "evaluate": {
        "numbers": ["--limit", "--batch-size", "--processes", "--data-seed", "--seed", "--gamma",
                    "--block-size"],
        "words": ["--suite", "--split", "--baseline", "--compare", "--out", "--model"],
        "always": ["evaluate", "--suite", "math", "--max-new-tokens", "2", "--limit", "1"],
    },
    "bench": {
        "numbers": ["--limit", "--rounds", "--max-new-tokens", "--seed"],
        "words": ["--model", "--assistant", "--device", "--dtype", "--out"],
        "always": ["bench", "--device", "no such device"],
    },
    "roofline": {
        "numbers": ["--block-size", "--kv-length", "--batch-size", "--nfe-speedup"],
        "words": ["--device", "--model", "--measured"],
        "always": ["roofline"],
    },
    "train": {
        "numbers": ["--steps", "--seed"],
        "words": ["--stage", "--recipe", "--init", "--out"],
        "always": ["train", "--recipe", "no/such/recipe.json"],
    },
}  # fmt: skip

DEEP = "deep.json"
"""A file in the folder where commands run, nested deeper than any parser goes; also config.json."""
FIRST = [
    [],
    ["no-such-command"],
    ["generate"],
    ["--help"],
    ["roofline", "--kv-length", HUGE],
    ["roofline", "--measured", DEEP],
    ["roofline", "--model", "."],
    ["generate", "--prompts", DEEP, "--out", "answers.jsonl"],
    ["generate", "a", "--model", "."],
    ["train", "--stage", "sbd", "--recipe", "sbd", "--estimate", "--init", "."],
    ["train", "--stage", "sbd", "--recipe", DEEP, "--out", "trained"],
]


def lines(count: int) -> Iterator[list[str]]:
    """Command lines with one to three hostile values, the same ones each time."""
    rng = random.Random(17)
    yield from FIRST
    for number in range(count - len(FIRST)):
        known = FLAGS[list(FLAGS)[number % len(FLAGS)]]
        words = list(known["always"])
        for _ in range(rng.choice((1, 1, 2, 3))):
            kind = rng.choice(("numbers", "words"))
            values = NUMBERS if kind == "numbers" else WORDS
            words += [rng.choice(known[kind]), rng.choice(values)]
        yield words


class TooLong(BaseException):
    """A command line is still at work."""


@contextmanager
def bounded(seconds: int) -> Iterator[None]:
    """Raise TooLong in this thread, the main one, after so many seconds."""

    def stop(*_: object) -> None:
        raise TooLong

    old = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)


@contextmanager
def somewhere_else() -> Iterator[None]:
    """A folder to work in that holds deep JSON, and no more memory than a command may need."""
    before, limits = Path.cwd(), resource.getrlimit(resource.RLIMIT_AS)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in (DEEP, "config.json"):
            Path(name).write_text('{"model_type": "llama", "a": ' + "[" * 200_000)
        resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, limits[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_AS, limits)
            os.chdir(before)


def fault_of(words: list[str]) -> str | None:
    """What is wrong with how a command line ends; None if nothing is."""
    out, err = io.StringIO(), io.StringIO()
    status: object = None
    with redirect_stdout(out), redirect_stderr(err), bounded(MAX_SECONDS):
        try:
            status = main(words)
        except SystemExit as error:
            status = error.code
        except TooLong:
            return f"did not end within {MAX_SECONDS} s"
        except BaseException:
            return "".join(traceback.format_exc().splitlines()[-1:])
    text = err.getvalue()
    if "Traceback" in text:
        return "a traceback on standard error"
    if status not in KNOWN:
        return f"exit status {status}"
    said = [line for line in text.splitlines() if line.startswith(("error: ", "python -m", "sbd"))]
    if status == 2 and "error: " not in text:
        return "no line that says what is wrong"
    if status == 2 and not text.startswith("usage") and len(said) > 1:
        return "more than one line of error"
    return None


def command_lines(count: int) -> Figure:
    """Command lines that end in a traceback or otherwise than they should."""
    faults: dict[str, str] = {}
    for words in lines(count):
        with somewhere_else():
            fault = fault_of(words)
        if fault is not None:
            faults[" ".join(words)[:200]] = fault
    what = f"tracebacks and wrong ends in {count} command lines"
    return Figure(what, len(faults), 0, {"faults": faults})


def start_up_faults(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """(shell command, environment) that cannot start; PY is this Python. The likeliest first."""
    app, sbd = "PY app.py", "PY -m sbd_core"
    for port in ("70000", "-1", "0", "abc", HUGE, "''", "1e3"):
        yield f"{app} --port {port}", {}
    for port in ("abc", "70000", "", "-5"):
        yield app, {"GRADIO_SERVER_PORT": port}
    for host in ("192.0.2.1", "no-such-host.invalid", "999.1.1.1", "'a b'", "::ffff:1"):
        yield f"{app} --port 7999 --host {host}", {}
    yield app, {"GRADIO_SERVER_NAME": "no-such-host.invalid", "GRADIO_SERVER_PORT": "7999"}
    broken = list(broken_models(folder))
    for model in broken:
        yield f"{sbd} generate a --model {model} --device cpu", {}
    for model in [*broken, folder / "none"]:
        yield f"{app} --port 7999 --model {model}", {}
    for device in ("gpu", "cuda:99", "''"):
        yield f"{app} --port 7999 --device {device}", {}
    for command in ("roofline", "roofline --json", "generate a --max-new-tokens 4"):
        yield f"{sbd} {command} > /dev/full", {}
        yield f"{sbd} {command} >&-", {}
    yield f"{sbd} roofline --device no 2> /dev/full", {}
    yield f"PY -m ui.share.export {folder}/none.json --out {folder}/out.html", {}


NESTED = "{% for a in range(99999) %}{% for b in range(99999) %}"
NESTED_END = "{% endfor %}{% endfor %}"
DOUBLING = (
    "{% set n = namespace(t='x') %}{% for a in range(60) %}{% set n.t = n.t ~ n.t %}{% endfor %}"
)


def broken_models(folder: Path) -> Iterator[Path]:
    """Model folders with a file that is broken or missing."""
    edits = {
        "template": ("chat_template.jinja", "{% if %}"),
        "template-that-divides": ("chat_template.jinja", "{{ 1 / 0 }}"),
        "template-of-gigabytes": ("chat_template.jinja", f"{NESTED}{'x' * 1000}{NESTED_END}"),
        "template-without-end": ("chat_template.jinja", f"{NESTED}{NESTED_END}"),
        "template-that-doubles": ("chat_template.jinja", DOUBLING),
        "config": ("config.json", "{"),
        "empty-config": ("config.json", "{}"),
        "tokenizer": ("tokenizer.json", "[]"),
        "weights": ("model.safetensors", "not weights"),
    }
    for name, (file, text) in edits.items():
        model = copytree(DEFAULT_CHECKPOINT, folder / name)
        (model / file).write_text(text)
        yield model
    (folder / "empty").mkdir()
    yield folder / "empty"


def start_ups(count: int) -> Figure:
    """Programs that cannot start and say so with a traceback, or never end."""
    faults: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        chosen = list(start_up_faults(Path(folder)))
        chosen = chosen[:count]
        for line, environment in chosen:
            fault = start_up_fault(line, environment)
            if fault is not None:
                faults[f"{environment or ''} {line}".strip()[:200]] = fault
    what = f"tracebacks and wrong ends in {len(chosen)} start-up faults"
    return Figure(what, len(faults), 0, {"faults": faults})


def start_up_fault(line: str, environment: dict[str, str]) -> str | None:
    """What is wrong with how a program ends that cannot start; None if nothing is."""
    words = ["/bin/bash", "-c", "exec " + line.replace("PY", sys.executable)]
    env = {**os.environ, **environment, "HF_HUB_OFFLINE": "1"}
    with tempfile.TemporaryFile("w+") as errors:
        out = subprocess.DEVNULL
        program = subprocess.Popen(words, cwd=ROOT, env=env, stdout=out, stderr=errors)
        until, status, said = time.monotonic() + 180, None, ""
        while status is None and time.monotonic() < until:
            time.sleep(0.05)
            status = program.poll()
            errors.seek(0)
            said = errors.read()
            if SERVED in said:
                program.send_signal(signal.SIGINT)
                status = program.wait(60)
        program.kill()
    if status is None:
        return "did not end"
    if "Traceback" in said or "Exception ignored" in said:
        return said.strip().splitlines()[-1]
    if status not in KNOWN:
        return f"exit status {status}"
    return None
