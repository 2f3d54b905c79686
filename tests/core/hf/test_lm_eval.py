"""`sbd lm-eval` with tasks of our own: any strategy, any batch; the causal head scores."""

import json
import re
from pathlib import Path

import pytest

from sbd_core.__main__ import main
from sbd_core.cli.measure import IFEVAL, with_defaults
from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate
from sbd_core.errors import EXTRAS
from tests.core.cli.commands import refusal
from tests.core.models.tiny_models import save_tiny, tiny_tokenizer

QUESTIONS = ["Tara has 49 pencils.", "The answer is", "a", "Why?", "7 and 7"]
GENERATE = """\
task: sbd_generate
dataset_path: json
dataset_kwargs: {{data_files: {data}}}
test_split: train
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: ["\\n\\n\\n"], max_gen_toks: 12}}
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
"""


def test_words_that_run_a_model_get_ours_and_our_tasks() -> None:
    ours = ["--include_path", str(IFEVAL)]
    assert with_defaults(["--tasks", "x"]) == ["--tasks", "x", *ours, "--model", "sbd"]
    assert with_defaults(["run", "-M", "hf"]) == ["run", "-M", "hf", *ours]
    for words in (["--include_path=.", "--model=hf"], ["ls", "tasks"], ["--help"]):
        assert with_defaults(words) == words


def test_the_extra_is_named_where_lm_eval_is_missing(monkeypatch, capsys) -> None:
    monkeypatch.setitem(EXTRAS, "lm-eval", ("no_such_package",))
    assert 'pip install "sbd-core[lm-eval]"' in refusal(capsys, ["lm-eval", "--tasks", "x"])


@pytest.fixture(scope="module")
def tasks(tmp_path_factory) -> Path:
    """A model folder and two tasks beside it."""
    pytest.importorskip("lm_eval", reason='needs pip install "sbd-core[lm-eval]"')
    place = tmp_path_factory.mktemp("tasks")
    save_tiny(place / "model", "qwen3", tiny_tokenizer(), mask_token_id=2)
    lines = [json.dumps({"question": text, "answer": "7"}) for text in QUESTIONS]
    (place / "data.jsonl").write_text("\n".join(lines) + "\n")
    (place / "generate.yaml").write_text(GENERATE.format(data=place / "data.jsonl"))
    return place


def evaluated(
    tasks: Path, task: str, arguments: str, batch_size: int, out: Path, model: str = "model"
) -> tuple:
    """(results, samples in the order of the questions) of one run of the command."""
    words = ["lm-eval", "--tasks", task, "--include_path", str(tasks), "--device", "cpu"]
    words += ["--model_args", f"pretrained={tasks / model},{arguments}", "--log_samples"]
    assert main([*words, "--batch_size", str(batch_size), "--output_path", str(out)]) == 0
    [results] = out.rglob("results_*.json")
    [samples] = out.rglob("samples_*.jsonl")
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    return json.loads(results.read_text()), sorted(rows, key=lambda row: row["doc_id"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("strategy", ["sbd", "verify", "ntp"])
def test_generate_until_gives_our_answers_in_any_batch(strategy, tasks, tmp_path) -> None:
    import sbd_core

    model = sbd_core.load(tasks / "model", device="cpu")
    config = DecodeConfig(strategy=strategy, block_size=4, max_new_tokens=12, is_raw_prompt=True)
    traces = [generate(model, question, config) for question in QUESTIONS]
    for batch_size in (1, 3):
        results, rows = evaluated(
            tasks,
            "sbd_generate",
            f"strategy={strategy},block_size=4",
            batch_size,
            tmp_path / str(batch_size),
        )
        assert [row["resps"][0][0] for row in rows] == [trace.text for trace in traces]
        facts = results["config"]
        num_forwards = sum(trace.num_forwards for trace in traces)
        assert facts["num_forwards"] == num_forwards
        num_tokens = sum(trace.num_tokens for trace in traces)
        assert facts["tokens_per_forward"] == pytest.approx(num_tokens / num_forwards)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("strategy", ["verify", "ntp"])
def test_an_answer_ends_where_lm_eval_s_own_model_ends_it(strategy, tasks) -> None:
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    from sbd_core.hf.harness import SetBlockLM

    place, settings = str(tasks / "model"), {"device": "cpu", "dtype": "float32"}
    # In a batch HFLM writes on until all of it has stopped, which can change what is cut.
    theirs = HFLM(place, batch_size=1, **settings)
    ours = SetBlockLM(place, batch_size=2, strategy=strategy, block_size=4, **settings)

    def answers(model, kwargs) -> list[str]:
        asked = [
            Instance("generate_until", {}, (question, {"max_gen_toks": 12, **kwargs}), number)
            for number, question in enumerate(QUESTIONS)
        ]
        return model.generate_until(asked, disable_tqdm=True)

    free = answers(theirs, {})
    words = re.findall(r"[ -~]+", "\n".join(free))
    span = max(words, key=lambda word: len(theirs.tok_encode(word)))
    assert len(theirs.tok_encode(span)) > 1, free
    for kwargs, is_cut in (
        ({}, False),
        ({"until": span}, True),
        ({"until": [span, span[-1]]}, True),
        ({"until": []}, False),
        ({"until": ""}, True),  # which every text holds
        ({"until": ["", span]}, True),
        ({"until": ["<eos>"]}, False),
        ({"until": ["<user>", "<m>"]}, False),
        ({"until": ["x" * 300]}, False),
        ({"until": [span], "do_sample": False, "temperature": 0.7}, True),
    ):
        found = answers(ours, kwargs)
        assert found == answers(theirs, kwargs), kwargs
        assert (found != free) is is_cut, kwargs


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_an_adapter_answers_as_it_does_where_we_load_it(tasks, tmp_path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    import sbd_core

    peft = pytest.importorskip("peft", reason="peft is of the optional part lora")
    config = peft.LoraConfig(target_modules="all-linear", use_dora=True, init_lora_weights=False)
    torch.manual_seed(0)
    base = AutoModelForCausalLM.from_pretrained(tasks / "model")
    peft.get_peft_model(base, config).save_pretrained(tasks / "adapter")
    model = sbd_core.load(tasks / "adapter", device="cpu", dtype="float32")
    config = DecodeConfig(strategy="ntp", max_new_tokens=12, is_raw_prompt=True)
    wanted = [generate(model, question, config).text for question in QUESTIONS]
    _, rows = evaluated(tasks, "sbd_generate", "strategy=ntp,dtype=float32", 1, tmp_path, "adapter")
    assert [row["resps"][0][0] for row in rows] == wanted


ASKED = {
    "prompt": "Answer in two sentences without a comma.",
    "instruction_id_list": ["punctuation:no_comma", "length_constraints:number_sentences"],
    "kwargs": [{}, {"relation": "at least", "num_sentences": 2, "num_words": None}],
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_ifeval_is_asked_from_a_local_file(tasks, tmp_path, monkeypatch) -> None:
    from sbd_core.evaluation.requests import check_of

    rows = [{"key": key, **ASKED} for key in (7, 8)]
    (tmp_path / "ifeval.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    words = ["lm-eval", "--tasks", "ifeval_file", "--device", "cpu", "--log_samples"]
    words += ["--gen_kwargs", "max_gen_toks=8", "--output_path", str(tmp_path / "out")]
    assert main([*words, "--model_args", f"pretrained={tasks / 'model'},block_size=4"]) == 0
    [results] = tmp_path.rglob("results_*.json")
    [samples] = tmp_path.rglob("samples_*.jsonl")
    answers = [json.loads(line)["resps"][0][0] for line in samples.read_text().splitlines()]
    check = check_of(ASKED)
    found = json.loads(results.read_text())["results"]["ifeval_file"]
    assert len(answers) == 2
    assert found["prompt_level_strict_acc,none"] == sum(map(check, answers)) / 2
