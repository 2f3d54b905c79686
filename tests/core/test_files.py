"""Folders are replaced whole; the message blames the disk only for what the disk did."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from sbd_core.errors import ArgumentError, ModelError
from sbd_core.files import replaced_folder
from tests.core.cli.commands import python
from tests.core.models.tiny_models import tiny_tokenizer
from tests.core.training.test_training import files_of_at_most

BIG = torch.zeros(10_000)
WRITERS: dict[str, Callable[[Path], object]] = {
    "Python": lambda folder: (folder / "a").write_bytes(bytes(40_000)),
    "safetensors": lambda folder: save_file({"a": BIG}, folder / "a"),
    "torch": lambda folder: torch.save(BIG, folder / "a"),
    "tokenizers": lambda folder: tiny_tokenizer().save_pretrained(folder),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_full_disk_is_called_one_whoever_writes(writer, tmp_path) -> None:
    with (
        files_of_at_most(1_000),
        pytest.raises(ArgumentError, match="out: cannot be written"),
        replaced_folder(tmp_path / "folder") as fresh,
    ):
        WRITERS[writer](fresh)
    assert not list(tmp_path.iterdir())


OTHERS = [
    KeyError("model.layers.0"),
    MemoryError(),
    torch.OutOfMemoryError("CUDA out of memory"),
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 4 bytes"),
    pickle.PicklingError("a local function"),
    ValueError("tied weights"),
    ModelError("model: other logits"),
    KeyboardInterrupt(),
]


@pytest.mark.parametrize("error", OTHERS, ids=repr)
def test_any_other_fault_while_a_folder_is_written_stays_what_it_is(error, tmp_path) -> None:
    with pytest.raises(type(error)) as caught, replaced_folder(tmp_path / "folder"):
        raise error
    assert caught.value is error
    assert not list(tmp_path.iterdir())


HOMELESS = """
import pwd, sys

def no_account(uid):
    raise KeyError(uid)

pwd.getpwuid = no_account
from sbd_core.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["generate", "2 + 2", "--max-new-tokens", "4"], 0, "4 tokens in"),
        (["export", "web", "--out", "web"], 0, ""),
        (["fetch"], 2, "SBD_CACHE must name a folder, as there is no home folder"),
    ],
)
def test_without_a_home_and_an_account_work_goes_on_without_a_cache(words, status, said, tmp_path):
    """As in containers that run as a user id of their own."""
    kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
    env = {**kept, "PYTHONPATH": str(Path.cwd()), "HF_HUB_OFFLINE": "1"}
    done = python(HOMELESS, *words, cwd=tmp_path, env=env)
    assert done.returncode == status, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
