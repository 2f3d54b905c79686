"""model.generate() with Set Block Decoding: the tokens of sbd_core.generate, by either way in."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LogitsProcessor,
    TextDiffusionStreamer,
    TextIteratorStreamer,
)
from transformers.generation import StoppingCriteria, TopPLogitsWarper
from transformers.generation.streamers import BaseStreamer

import sbd_core
from sbd_core import ArgumentError, DecodeConfig
from sbd_core.hf import generate, write_custom_generate
from sbd_core.hf.vendoring import custom_generate_files
from sbd_core.solvers import EntropyBound, TopK
from sbd_core.training.checkpoints.checkpoint import export
from sbd_core.training.recipes.recipe_files import read_recipe
from tests.core.models.tiny_models import save_tiny, tiny_model, tiny_tokenizer

ROOT = Path(__file__).parents[3]
PROMPTS = ["Tara has 49 pencils.", "The answer is", "a", "Why? " * 5]
LENGTH = 24


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A random-weight model folder that brings its own generate()."""
    place = tmp_path_factory.mktemp("folder") / "tiny-sbd"
    save_tiny(
        place,
        "qwen3",
        tiny_tokenizer(),
        mask_token_id=2,
        set_block_decoding={"min_block_size": 2, "max_block_size": 16},
    )
    write_custom_generate(place)
    return place


@pytest.fixture(scope="module")
def ours(folder):
    return sbd_core.load(folder, device="cpu", dtype="float32")


@pytest.fixture(scope="module")
def plain(folder):
    """The model as transformers loads it without leave to run the folder's code."""
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)


@pytest.fixture(scope="module")
def tokenizer(folder):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.padding_side = "left"
    return tokenizer


def answers(output, inputs) -> list[list[int]]:
    """The new tokens, up to and with the first end."""
    rows = output[:, inputs["input_ids"].shape[1] :].tolist()
    return [row[: row.index(1) + 1] if 1 in row else row for row in rows]


def expected(ours, inputs, config: DecodeConfig) -> list[list[int]]:
    pairs = zip(inputs["input_ids"], inputs["attention_mask"].bool(), strict=True)
    prompts = [ids[kept].tolist() for ids, kept in pairs]
    return [list(sbd_core.generate(ours, ids, config).token_ids) for ids in prompts]


@pytest.mark.parametrize("strategy", ["sbd", "ntp", "verify"])
@pytest.mark.parametrize("prompts", [PROMPTS[:1], PROMPTS[:3], PROMPTS * 4], ids=len)
def test_the_callable_gives_the_tokens_of_our_generate_in_any_batch(
    strategy, prompts, plain, ours, tokenizer
) -> None:
    inputs = tokenizer(prompts, return_tensors="pt", padding=True)
    output = plain.generate(
        **inputs,
        custom_generate=generate,
        strategy=strategy,
        gamma=0.5,
        block_size=8,
        max_new_tokens=LENGTH,
    )
    solver = EntropyBound(gamma=0.5)
    config = DecodeConfig(strategy=strategy, solver=solver, block_size=8, max_new_tokens=LENGTH)
    assert answers(output, inputs) == expected(ours, inputs, config)


def test_a_folder_decodes_by_itself_with_the_same_tokens(folder, ours, tokenizer) -> None:
    model = AutoModelForCausalLM.from_pretrained(
        folder, trust_remote_code=True, dtype=torch.float32
    )
    assert "sbd_core" not in type(model.generate.func).__module__
    inputs = tokenizer(PROMPTS, return_tensors="pt", padding=True)
    output = model.generate(**inputs, max_new_tokens=LENGTH)
    config = DecodeConfig(max_new_tokens=LENGTH)
    assert answers(output, inputs) == expected(ours, inputs, config)
    given = model.generate(
        **inputs, max_new_tokens=LENGTH, block_size=5, strategy="verify", tokenizer=tokenizer
    )
    config = DecodeConfig(max_new_tokens=LENGTH, block_size=5, strategy="verify")
    assert answers(given, inputs) == expected(ours, inputs, config)


def test_a_folder_decodes_where_this_package_is_not_installed(folder, ours, tokenizer, tmp_path):
    code = (
        "import sys; sys.modules['sbd_core'] = None\n"
        "from transformers import AutoModelForCausalLM, AutoTokenizer\n"
        f"folder = {str(folder)!r}\n"
        "model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)\n"
        "tokenizer = AutoTokenizer.from_pretrained(folder)\n"
        f"inputs = tokenizer({PROMPTS[0]!r}, return_tensors='pt')\n"
        f"print(model.generate(**inputs, max_new_tokens={LENGTH})[0].tolist())\n"
    )
    environment = {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    inputs = tokenizer(PROMPTS[:1], return_tensors="pt")
    [answer] = expected(ours, inputs, DecodeConfig(max_new_tokens=LENGTH))
    assert done.stdout.strip() == str(inputs["input_ids"][0].tolist() + answer)


class Recorder(BaseStreamer):
    """Keeps what it is given, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, list[int]]] = []

    def put(self, value) -> None:
        self.calls.append(("put", value.flatten().tolist()))

    def put_draft(self, value) -> None:
        self.calls.append(("draft", value.tolist()))

    def end(self) -> None:
        self.calls.append(("end", []))


@pytest.mark.parametrize("strategy", ["sbd", "verify"])
def test_a_streamer_gets_committed_text_in_reading_order_and_drafts_aside(
    strategy, plain, tokenizer
) -> None:
    inputs = tokenizer(PROMPTS[:1], return_tensors="pt")
    streamer = Recorder()
    output = plain.generate(
        **inputs,
        custom_generate=generate,
        strategy=strategy,
        block_size=8,
        max_new_tokens=LENGTH,
        token_streamer=streamer,
    )
    names = [name for name, _ in streamer.calls]
    assert names[-1] == "end"
    assert names.count("end") == 1
    texts = [ids for name, ids in streamer.calls if name == "put"]
    assert texts[0] == inputs["input_ids"][0].tolist()
    assert [token for text in texts for token in text] == output[0].tolist()
    if strategy == "sbd":
        assert len(texts) == 1 + LENGTH // 8
        drafts = [ids for name, ids in streamer.calls if name == "draft"]
        assert drafts
        assert all(len(draft) <= 8 and draft[-1] != 2 for draft in drafts)


def test_the_streamers_of_transformers_work_with_a_folder(folder, tokenizer, capsys) -> None:
    model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)
    inputs = tokenizer(PROMPTS[:1], return_tensors="pt")
    whole = model.generate(**inputs, max_new_tokens=LENGTH)[0, inputs["input_ids"].shape[1] :]
    text = tokenizer.decode(whole, skip_special_tokens=True)
    streamer = TextIteratorStreamer(tokenizer, skip_prompt=True, skip_special_tokens=True)
    model.generate(**inputs, max_new_tokens=LENGTH, streamer=streamer)
    assert "".join(streamer) == text
    drawn = TextDiffusionStreamer(tokenizer, skip_prompt=True)
    model.generate(**inputs, max_new_tokens=LENGTH, streamer=drawn)
    assert "\033[33m" in capsys.readouterr().out, "no draft was drawn"
    both = tokenizer(PROMPTS[:2], return_tensors="pt", padding=True)
    with pytest.raises(ValueError, match="streamer: needs a batch of 1"):
        model.generate(**both, max_new_tokens=4, streamer=streamer)


class StopAfter(StoppingCriteria):
    def __init__(self, token_id: int) -> None:
        self.token_id = token_id

    def __call__(self, input_ids, scores, **kwargs):
        return input_ids[:, -1] == self.token_id


def test_a_stopping_criterion_cuts_inside_a_block(plain, folder, tokenizer) -> None:
    inputs = tokenizer(PROMPTS[:1], return_tensors="pt")
    start = inputs["input_ids"].shape[1]
    options = {"custom_generate": generate, "block_size": 8, "max_new_tokens": LENGTH}
    [whole] = plain.generate(**inputs, **options).tolist()
    stop = whole[start + 2]
    [cut] = plain.generate(**inputs, **options, stopping_criteria=[StopAfter(stop)]).tolist()
    assert cut == whole[: whole.index(stop, start) + 1]
    model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=True)
    text = tokenizer.decode([stop])
    same = model.generate(
        **inputs, block_size=8, max_new_tokens=LENGTH, stop_strings=[text], tokenizer=tokenizer
    )
    assert text in tokenizer.decode(same[0, start:])
    assert same.shape[1] < start + LENGTH


def test_a_list_of_ends_is_honoured(plain, tokenizer) -> None:
    inputs = tokenizer(PROMPTS[:1], return_tensors="pt")
    start = inputs["input_ids"].shape[1]
    options = {"custom_generate": generate, "strategy": "ntp", "max_new_tokens": LENGTH}
    [whole] = plain.generate(**inputs, **options).tolist()
    [cut] = plain.generate(**inputs, **options, eos_token_id=[1, whole[start + 3]]).tolist()
    assert cut == whole[: whole.index(whole[start + 3], start) + 1]


def test_sampling_follows_seed_temperature_and_warpers(plain, ours, tokenizer) -> None:
    inputs = tokenizer(PROMPTS[:1] * 2, return_tensors="pt")
    options = {"custom_generate": generate, "max_new_tokens": LENGTH, "do_sample": True}
    options |= {"temperature": 0.7, "top_k": 0}
    first = plain.generate(**inputs, **options, seed=5)
    config = DecodeConfig(max_new_tokens=LENGTH, temperature=0.7, seed=5)
    assert answers(first, inputs) == expected(ours, inputs, config)
    assert not torch.equal(first, plain.generate(**inputs, **options, seed=6))
    torch.manual_seed(3)
    drawn = plain.generate(**inputs, **options)
    torch.manual_seed(3)
    assert torch.equal(drawn, plain.generate(**inputs, **options))
    greedy = plain.generate(**inputs, custom_generate=generate, max_new_tokens=LENGTH)
    ntp = {"strategy": "ntp"}
    greedy = plain.generate(**inputs, custom_generate=generate, max_new_tokens=LENGTH, **ntp)
    one = plain.generate(**inputs, **{**options, "top_k": 1}, **ntp)
    assert torch.equal(one, greedy), "the best of one is the best"
    narrow = plain.generate(**inputs, **{**options, "top_p": 1e-6}, **ntp)
    assert torch.equal(narrow, greedy)
    several = plain.generate(
        input_ids=inputs["input_ids"][:1], **options, num_return_sequences=3, seed=5
    )
    assert torch.equal(several[0], first[0])
    assert not torch.equal(several[0], several[1])


def test_suppressed_tokens_never_come(plain, tokenizer) -> None:
    inputs = tokenizer(PROMPTS[:1], return_tensors="pt")
    options = {"custom_generate": generate, "max_new_tokens": LENGTH}
    [whole] = plain.generate(**inputs, **options).tolist()
    worst = whole[-1]
    for refusal in ({"suppress_tokens": [2, worst]}, {"bad_words_ids": [[worst]]}):
        [other] = plain.generate(**inputs, **options, **refusal).tolist()
        assert worst not in other[inputs["input_ids"].shape[1] :]


class Mine(LogitsProcessor):
    def __call__(self, input_ids, scores):
        return scores


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"repetition_penalty": 1.2}, "repetition_penalty"),
        ({"no_repeat_ngram_size": 2}, "no_repeat_ngram_size"),
        ({"min_new_tokens": 3}, "min_new_tokens"),
        ({"bad_words_ids": [[3, 4]]}, "bad_words_ids"),
        ({"logits_processor": [Mine()]}, "logits_processor"),
        ({"num_beams": 2}, "num_beams"),
        ({"return_dict_in_generate": True, "output_scores": True}, "output_scores"),
        ({"gamma": -1}, "gamma"),
        ({"gamma": 1, "solver": TopK(k=2)}, "gamma"),
        ({"block_size": 64}, "block_size"),
        ({"strategy": "beam"}, "strategy"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_name(arguments, argument, plain, tokenizer) -> None:
    inputs = tokenizer(PROMPTS[:1], return_tensors="pt")
    with pytest.raises(ArgumentError) as caught:
        plain.generate(**inputs, custom_generate=generate, max_new_tokens=4, **arguments)
    assert caught.value.argument == argument


def test_a_model_without_a_mask_token_decodes_ntp_and_is_told_of_prepare(tmp_path) -> None:
    save_tiny(tmp_path, "qwen3", tiny_tokenizer())
    model = AutoModelForCausalLM.from_pretrained(tmp_path)
    ids = torch.tensor([[5, 6, 7]])
    with pytest.raises(ArgumentError, match="sbd prepare"):
        model.generate(input_ids=ids, custom_generate=generate, max_new_tokens=4)
    options = {"strategy": "ntp", "max_new_tokens": 8}
    ntp = model.generate(input_ids=ids, custom_generate=generate, **options)
    theirs = model.generate(input_ids=ids, max_new_tokens=8, do_sample=False)
    assert ntp.tolist() == theirs.tolist()


def test_the_output_object_counts_forward_passes(plain, ours, tokenizer) -> None:
    inputs = tokenizer(PROMPTS[:1], return_tensors="pt")
    output = plain.generate(
        **inputs, custom_generate=generate, max_new_tokens=LENGTH, return_dict_in_generate=True
    )
    trace = sbd_core.generate(
        ours, inputs["input_ids"][0].tolist(), DecodeConfig(max_new_tokens=LENGTH)
    )
    assert output.num_forwards == (trace.num_forwards,)
    assert output.tokens_per_forward == pytest.approx(trace.tokens_per_forward)
    revealing = sum(bool(event.reveals) for event in trace.events)
    assert output.tokens_per_revealing_forward == pytest.approx(trace.num_tokens / revealing)


def test_a_warper_of_logits_is_applied_before_entropies() -> None:
    from sbd_core.hf.logits_rules import with_processors
    from sbd_core.sampling import LogitStatsSpec

    logits = torch.tensor([[2.0, 1.0, 0.0, -1.0]])
    spec = LogitStatsSpec(has_entropy=True)
    narrowed = with_processors([], 1.0, [TopPLogitsWarper(0.1)])(logits.clone(), 0, 1, spec)
    assert narrowed.entropy == [0.0]
    assert narrowed.best_ids == [0]


def test_the_bundled_folder_decodes_by_itself_from_fresh_files(nano) -> None:
    files = custom_generate_files()
    place = sbd_core.DEFAULT_CHECKPOINT / "custom_generate"
    there = {file.name: file.read_text("utf-8") for file in place.iterdir() if file.is_file()}
    assert there == files, "run python -m scripts.write_custom_generate"
    assert len(files) > 10
    model = AutoModelForCausalLM.from_pretrained(
        sbd_core.DEFAULT_CHECKPOINT, trust_remote_code=True, dtype=torch.float32
    )
    prompt = nano.encode("What is 12 + 30?", is_raw=False)
    output = model.generate(input_ids=torch.tensor([prompt]), max_new_tokens=40)
    trace = sbd_core.generate(nano, prompt, DecodeConfig(max_new_tokens=40))
    assert tuple(output[0, len(prompt) :].tolist()) == trace.token_ids


def test_a_trained_folder_brings_its_generate(tmp_path) -> None:
    tokenizer = tiny_tokenizer()
    recipe = replace(read_recipe("sbd", None, {}), min_block_size=2, max_block_size=4)
    export(tiny_model("llama", len(tokenizer)), tokenizer, recipe, tmp_path / "model")
    assert (tmp_path / "model" / "custom_generate" / "generate.py").is_file()
    assert sbd_core.load(tmp_path / "model").model.config.mask_token_id == tokenizer.mask_token_id
