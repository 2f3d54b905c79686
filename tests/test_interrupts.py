"""Ctrl-C ends a command with status 130 and without a traceback, whatever it is doing."""

import json
import os
from pathlib import Path

import pytest

from tests.core.cli.commands import python

ROOT = Path(__file__).parents[1]
# Presses Ctrl-C when `stage`, a module, is looked for; then runs the module `program`.
PRESSED = """
import importlib.abc, json, os, runpy, signal, sys

program, stage, words = json.loads(sys.argv[1])
signal.signal(signal.SIGINT, signal.default_int_handler)


class Press(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == stage:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)


sys.meta_path.insert(0, Press())
sys.argv = ["-m", *words]
runpy.run_module(program, run_name="__main__", alter_sys=True)
"""
GENERATE = ["generate", "2 + 2", "--max-new-tokens", "4"]
PAGE = ["--port", "47123"]
SITE = ["--out", "site", "--models", "sbd-nano"]


@pytest.mark.parametrize(
    ("program", "stage", "words"),
    [
        ("sbd_core", "sbd_core.cli", GENERATE),
        ("sbd_core", "sbd_core.cli.measure", GENERATE),
        ("sbd_core", "torch", GENERATE),
        ("sbd_core", "torch.nn", GENERATE),
        ("sbd_core", "transformers", GENERATE),
        ("sbd_core", "onnxruntime", GENERATE),
        ("sbd_core", "sbd_core.models.web_export", ["export", "web", "--out", "web"]),
        ("sbd_core", "sbd_core.hf.conversions", ["prepare", "model", "--out", "ready"]),
        ("app", "ui.doors", PAGE),
        ("app", "torch", PAGE),
        ("app", "gradio", PAGE),
        ("scripts.static_site", "scripts.static_site", SITE),
        ("scripts.static_site", "sbd_core.files", SITE),
        ("scripts.static_site", "sbd_core.models.web_export", SITE),
    ],
)
def test_ctrl_c_is_quiet_at_every_stage(program, stage, words, tmp_path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "SBD_CACHE": str(tmp_path / "cache")}
    done = python(PRESSED, json.dumps([program, stage, words]), cwd=tmp_path, env=env)
    assert "Traceback" not in done.stderr
    assert done.returncode == 130, done
    assert done.stderr in ("", "stopped\n")
    assert {path.name for path in tmp_path.iterdir()} <= {"cache"}
