"""What a folder or hub id cannot be: each is one sentence that says what to do."""

import http.server
import json
import threading
from pathlib import Path
from unittest import mock

import huggingface_hub.constants as hub
import pytest
from transformers import BartConfig, ViTConfig

import sbd_core
from sbd_core.__main__ import main
from sbd_core.errors import ModelError


def refused(source: object) -> str:
    with pytest.raises(ModelError) as caught:
        sbd_core.load(source, device="cpu")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def configured(folder: Path, config: dict) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    return folder


class Hub(http.server.BaseHTTPRequestHandler):
    """Answers like the Hub does about a gated repository and about one it does not have."""

    def do_HEAD(self) -> None:
        is_gated = self.path.startswith("/some/gated")
        self.send_response(403 if is_gated else 404)
        self.send_header("X-Error-Code", "GatedRepo" if is_gated else "RepoNotFound")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_HEAD

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def hub_here(monkeypatch):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{server.server_port}"
        template = place + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(hub, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(hub, "ENDPOINT", place)
        monkeypatch.setattr(hub, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        yield
        server.shutdown()


def test_a_gated_repository_says_where_to_ask_for_access(hub_here) -> None:
    assert refused("some/gated-model") == (
        "model: 'some/gated-model' is gated: ask for access at "
        "https://huggingface.co/some/gated-model and log in with hf auth login"
    )


def test_a_missing_repository_is_said_to_be_missing(hub_here) -> None:
    assert refused("some/model") == (
        "model: 'some/model' is no folder here and no repository of the Hub that this login can "
        "read"
    )


def test_without_a_network_a_hub_id_says_to_name_a_folder() -> None:
    assert refused("some/model") == (
        "model: 'some/model' is no folder here and cannot be fetched, as HF_HUB_OFFLINE forbids "
        "it; unset that or name a folder"
    )


def test_a_folder_that_is_no_model_says_so(tmp_path) -> None:
    (tmp_path / "notes.txt").write_text("no model")
    assert "is no model: it holds no config.json" in refused(tmp_path)


def test_code_of_a_folder_is_refused_and_not_run(tmp_path) -> None:
    auto_map = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
    folder = configured(tmp_path / "own", {"model_type": "own", "auto_map": auto_map})
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    assert "brings model code of its own (model_type 'own')" in refused(folder)
    assert not (tmp_path / "ran").exists()


def test_a_model_type_of_the_future_says_to_upgrade(tmp_path) -> None:
    said = refused(configured(tmp_path / "new", {"model_type": "llama9"}))
    assert "does not know: pip install --upgrade transformers" in said


@pytest.mark.parametrize(
    ("kind", "rule"),
    [(BartConfig, "must be a decoder alone"), (ViTConfig, "must be a causal language model")],
)
def test_what_is_no_decoder_is_refused_by_its_config(kind, rule, tmp_path) -> None:
    kind().save_pretrained(tmp_path)
    assert rule in refused(tmp_path)


def test_an_adapter_without_peft_says_what_to_install(tmp_path, monkeypatch) -> None:
    (tmp_path / "adapter_config.json").write_text('{"base_model_name_or_path": "base"}')
    monkeypatch.setitem(__import__("sys").modules, "peft", None)
    assert refused(tmp_path).endswith('which is not installed: pip install "sbd-core[lora]"')


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: x")]
)
def test_memory_that_runs_out_is_one_line_with_what_to_change(error, nano, capsys) -> None:
    with (
        mock.patch.object(sbd_core, "load", return_value=nano),
        mock.patch.object(type(nano), "forward_batch", side_effect=error),
        mock.patch.object(type(nano), "forward", side_effect=error),
    ):
        assert main(["generate", "What is 1 + 2?"]) == 2
    assert capsys.readouterr().err.startswith("error: out of memory: ask for a smaller batch size")
