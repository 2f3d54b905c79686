"""export hub: what is uploaded decodes through transformers, with our tokens."""

import json
import os
import subprocess
from pathlib import Path

import yaml

import sbd_core
from sbd_core.__main__ import main
from sbd_core.hf import prepare
from sbd_core.models.model_folder import REAL_MODEL
from sbd_core.models.web_folder import open_web
from tests.core.cli.commands import last_line, python, refusal
from tests.core.models.tiny_models import save_tiny, tiny_tokenizer

ALONE = """
import json, sys

if len(sys.argv) > 3:
    sys.modules["sbd_core"] = None  # as where it is not installed
from transformers import AutoModelForCausalLM, AutoTokenizer

folder, question = sys.argv[1:3]
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True, dtype="float32")
chat = [{"role": "user", "content": question}]
inputs = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_tensors="pt")
prompt = inputs["input_ids"]
found = {
    strategy: model.generate(**inputs, max_new_tokens=40, strategy=strategy)
    for strategy in ("sbd", "verify")
}
print(json.dumps({name: ids[0, prompt.shape[1] :].tolist() for name, ids in found.items()}))
"""


def through_transformers(folder, question, home, *more) -> subprocess.CompletedProcess[str]:
    environment = {"HF_HOME": str(home), "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(Path.cwd())}
    return python(ALONE, folder, question, *more, cwd=home, env={**os.environ, **environment})


def test_the_bundled_model_decodes_through_transformers(nano, tmp_path, capsys) -> None:
    folder = tmp_path / "hub" / "nano"
    assert main(["export", "hub", "--model", "sbd-nano", "--out", str(folder), "--json"]) == 0
    assert last_line(capsys) == {
        "model": str(sbd_core.DEFAULT_CHECKPOINT),
        "folder": str(folder),
        "has_new_card": False,
    }
    for name in ("README.md", "recipe.json"):
        assert (folder / name).read_bytes() == (sbd_core.DEFAULT_CHECKPOINT / name).read_bytes()
    question = "What is 12 + 30?"
    done = through_transformers(folder, question, tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    for strategy, token_ids in found.items():
        config = sbd_core.DecodeConfig(strategy=strategy, max_new_tokens=40)
        assert tuple(token_ids) == sbd_core.generate(nano, question, config).token_ids
    assert len(found) == 2


def test_where_the_package_is_missing_a_folder_says_where_it_comes_from(folder, tmp_path) -> None:
    done = through_transformers(folder, "a", tmp_path, "without")
    assert done.returncode
    assert "needs sbd_core: pip install . in a checkout of its repository" in done.stderr
    assert [path.name for path in (folder / "custom_generate").iterdir()] == ["generate.py"]


def test_a_model_without_a_card_gets_one_that_the_hub_reads(folder, tmp_path, capsys) -> None:
    made = tmp_path / "named"
    assert main(["export", "hub", "--model", str(folder), "--out", str(made)]) == 0
    assert "add data, licence and limits to its README.md" in capsys.readouterr().out
    _, matter, text = (made / "README.md").read_text("utf-8").split("---\n")
    assert yaml.safe_load(matter)["library_name"] == "transformers"
    assert "custom_generate" in yaml.safe_load(matter)["tags"]
    assert "# named" in text
    assert "blocks of 2 to 16 tokens" in text
    assert (made / "custom_generate" / "generate.py").is_file()


def test_a_repository_can_hold_the_model_for_browsers_too(tmp_path) -> None:
    out = tmp_path / "both"
    assert main(["export", "hub", "--out", str(out), "--web"]) == 0
    assert (out / "custom_generate" / "generate.py").is_file()
    assert open_web(out / "web").name == "sbd-nano"


def test_what_transformers_alone_cannot_decode_is_refused_in_one_sentence(tmp_path, capsys) -> None:
    base, ready, full = (tmp_path / name for name in ("base", "ready", "full"))
    save_tiny(base, "llama", tiny_tokenizer())
    prepare(base, ready)
    (full / "something").mkdir(parents=True)
    cases = [
        (REAL_MODEL, "out", "model: 'sbd-smollm2-135m' is an adapter beside its base"),
        (base, "out", f"model: {str(base)!r} is not trained for Set Block Decoding"),
        (ready, "out", f"model: {str(ready)!r} is not trained for Set Block Decoding"),
        (tmp_path / "none", "out", "model: must be a folder or a hub id"),
        (base, "full", "out: must be a new folder or an empty one"),
    ]
    for model, out, reason in cases:
        words = ["export", "hub", "--model", str(model), "--out", str(tmp_path / out)]
        assert refusal(capsys, words).startswith(reason)
    assert not (tmp_path / "out").exists()
