"""A decode that names no strategy takes the one that the model's folder names."""

import shutil
from pathlib import Path

import pytest

from sbd_core.__main__ import main
from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate, generate_batch, stream
from sbd_core.decoding.prompt_files import answer_prompts
from sbd_core.errors import ArgumentError, ModelError
from sbd_core.hf.conversions import prepare
from sbd_core.models.block_adapter import read_info
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.loading import load
from sbd_core.models.model_folder import REAL_MODEL, bundled_folder
from sbd_core.shared_work import Share
from sbd_core.trace import Trace

PROMPT = "Tara has 49 pencils. Hugo takes 12. How many pencils does Tara have now?"
SHORT = DecodeConfig(block_size=4, max_new_tokens=12)


@pytest.fixture(scope="module", params=["ntp", "sbd", "verify"])
def ready(request, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nano in a folder that names another strategy."""
    folder = tmp_path_factory.mktemp("ready") / request.param
    prepare("assets/checkpoints/sbd-nano", folder, strategy=request.param)
    return folder


def test_every_way_to_decode_takes_it_and_traces_record_it(ready: Path, tmp_path: Path) -> None:
    model, wanted = load(ready, dtype="float32"), ready.name
    assert model.strategy == wanted
    named = generate(model, PROMPT, DecodeConfig(strategy=wanted, block_size=4, max_new_tokens=12))
    events = stream(model, PROMPT, SHORT)
    assert events.config.strategy == wanted
    traces = [generate(model, PROMPT, SHORT), *generate_batch(model, [PROMPT] * 2, SHORT)]
    for trace in traces:
        assert trace.config == named.config
        assert trace.token_ids == named.token_ids
        assert trace.num_forwards == named.num_forwards
    out, alone = tmp_path / "out.jsonl", {"batch_size": 1, "share": Share(0, 1)}
    done = answer_prompts(model, [{"prompt": PROMPT}], SHORT, out, **alone)
    assert done is not None
    assert done.num_forwards == named.num_forwards


def test_the_command_line_takes_it_unless_a_solver_or_a_pin_is_given(ready, tmp_path, capsys):
    asked = ["generate", PROMPT, "--model", str(ready), "--block-size", "4"]
    asked += ["--max-new-tokens", "8", "--trace", str(tmp_path / "trace.json")]
    for more, wanted in ([], ready.name), (["--gamma", "0.2"], "sbd"), (["--pin", "1=40"], "sbd"):
        assert main([*asked, *more]) == 0
        trace = Trace.from_json((tmp_path / "trace.json").read_text())
        assert trace.config.strategy == wanted
    capsys.readouterr()


def test_the_real_model_names_verify_and_nano_sbd(nano: HuggingFaceModel) -> None:
    folder = bundled_folder(REAL_MODEL)
    assert folder is not None
    assert read_info(folder)[0].strategy == "verify"
    assert nano.strategy == "sbd"


def test_what_only_another_strategy_has_is_refused_by_name(ready: Path) -> None:
    model = load(ready, dtype="float32")
    pinned = DecodeConfig(block_size=4, max_new_tokens=8, pinned={1: 40})
    if model.strategy == "sbd":
        generate(model, PROMPT, pinned)
        return
    with pytest.raises(ArgumentError, match=f"needs strategy sbd; got '{model.strategy}'"):
        generate(model, PROMPT, pinned)


def test_a_folder_that_names_no_strategy_there_is_is_refused(ready: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(ready, tmp_path / "wrong")
    text = (folder / "config.json").read_text()
    other = text.replace(f'"strategy": "{ready.name}"', '"strategy": "greedy"')
    assert other != text
    (folder / "config.json").write_text(other)
    with pytest.raises(ModelError, match="must be one of sbd, ntp, verify; got 'greedy'"):
        load(folder)
