"""Synthesis of training texts: a chat model makes up requests and answers them.

Requests are given, or sampled: the model continues the tokens that begin a user's turn. Answers are
decoded greedily with the repetition penalty that decoding will use. If the model is then fine-tuned
on these texts, it learns to predict its own words.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from sbd_core.config import DecodeConfig
from sbd_core.decoding.api import generate_batch
from sbd_core.decoding.repetition import is_loop
from sbd_core.errors import ArgumentError, TrainingError
from sbd_core.json_node import json_of
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.training.recipe import SynthesisConfig

OPENINGS = (
    "List three", "List five", "List the steps", "Give me a list of", "Give me three examples of",
    "Write a step-by-step guide", "What are the main", "What are the differences between",
    "Compare", "Summarize", "Rewrite the following sentence", "Rewrite this paragraph",
    "Correct the grammar:", "Write a Python function", "Write a function that", "Write a SQL query",
    "Write the HTML", "Write a short email", "Write a JSON object", "Make a table",
    "Create a recipe", "Create an outline", "Explain how to", "Translate",
)  # fmt: skip
"""Beginnings of requests whose answers have a structure, which is easy to draft."""

MAX_REQUEST_TOKENS = 64
REQUEST_TEMPERATURE = 0.8
"""Temperature of requests; at 1, a small model makes up too many that make no sense."""


def synthesize(
    model: HuggingFaceModel,
    out: Path,
    config: SynthesisConfig,
    prompts: Sequence[str] = (),
    tell: Callable[[int], None] = lambda count: None,
) -> int:
    """Append examples to the JSON Lines file `out` until it has config.num_examples lines.

    Returns the number of lines in `out`. A line has the keys prompt, kind (sampled, structured or
    asked), number (index of the text) and, unless only requests are written, answer and finished
    (False for a cut answer). Texts with repeated prompts or looping answers are dropped.
    prompts: requests to answer first, each once.
    Raises ArgumentError if synthesize() did not write `out`, TrainingError without a chat template.
    """
    done = _read_done(out)
    known = {_key(line) for line in done}
    count, number = len(done), 1 + max((int(line["number"]) for line in done), default=-1)
    tokenizer, mark = model.tokenizer, "MARK"
    if not tokenizer.chat_template:
        raise TrainingError(f"model: {model.name} has no chat template to sample from")
    chat = [{"role": "user", "content": mark}]
    text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    # Token ids that begin a user's turn.
    opening = tokenizer.encode(text.split(mark)[0], add_special_tokens=False)
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("a", encoding="utf-8") as file:
        tell(count)
        while count < config.num_examples:
            size = min(config.batch_size, config.num_examples - count)
            numbers = range(number, number + size)
            number += size
            for example in _round(model, opening, config, prompts, numbers):
                if _key(example) in known or is_loop(example.get("answer", "")):
                    continue
                known.add(_key(example))
                file.write(json.dumps(example, ensure_ascii=False) + "\n")
                count += 1
            file.flush()
            tell(count)
    return count


def _key(example: dict[str, Any]) -> str:
    return " ".join(example["prompt"].lower().split())


def _read_done(out: Path) -> list[dict[str, Any]]:
    """Read the examples that a file already has, and remove a last line that is incomplete."""
    if not out.exists():
        return []
    try:
        text = out.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            out.write_text(whole, encoding="utf-8")
        # Not splitlines(): JSON text may hold the other line ends that Unicode has.
        done = [json_of(line) for line in whole.split("\n")[:-1]]
        if not all(isinstance(line["prompt"], str) and int(line["number"]) >= 0 for line in done):
            raise ValueError("a line without prompt or number")
    except (OSError, ValueError, KeyError, TypeError) as error:
        rule = "must be a new file, or one that synthesize wrote"
        raise ArgumentError("out", rule, str(out)) from error
    return done


def _round(
    model: HuggingFaceModel,
    opening: Sequence[int],
    config: SynthesisConfig,
    prompts: Sequence[str],
    numbers: range,
) -> Iterator[dict[str, Any]]:
    """Make the requests with these numbers, then answer them; yield the examples.

    opening: token ids that begin a user's turn. A number is an index in `prompts`, or beyond.
    """
    asked = [
        {"prompt": prompts[number], "kind": "asked", "number": number}
        for number in numbers
        if number < len(prompts)
    ]
    sampled = [number for number in numbers if number >= len(prompts)]
    examples = [*asked, *_requests(model, opening, config, sampled)]
    if not config.max_answer_tokens:
        yield from examples
        return
    greedy = DecodeConfig(
        strategy="ntp",
        max_new_tokens=config.max_answer_tokens,
        repetition_penalty=config.repetition_penalty,
        top_k_recorded=0,
    )
    traces = generate_batch(
        model, [each["prompt"] for each in examples], greedy, batch_size=config.batch_size
    )
    for example, trace in zip(examples, traces, strict=True):
        if answer := trace.text.strip():
            is_finished = trace.finish == "end_of_sequence"
            made = {"answer": answer, "finished": is_finished}
            yield {"prompt": example["prompt"], **made, **example}


def _requests(
    model: HuggingFaceModel,
    opening: Sequence[int],
    config: SynthesisConfig,
    numbers: Sequence[int],
) -> Iterator[dict[str, Any]]:
    kinds: list[str] = []
    starts: list[list[int]] = []
    for number in numbers:
        random = Random(f"{config.seed}/{number}")
        is_structured = random.random() < config.structured_ratio
        kinds.append("structured" if is_structured else "sampled")
        # The space before the next word belongs to that word's token.
        begun = random.choice(OPENINGS) if is_structured else ""
        starts.append(model.tokenizer.encode(begun, add_special_tokens=False) if begun else [])
    sampling = DecodeConfig(
        strategy="ntp",
        max_new_tokens=MAX_REQUEST_TOKENS,
        temperature=REQUEST_TEMPERATURE,
        repetition_penalty=1.0,
        top_k_recorded=0,
    )
    traces = generate_batch(
        model,
        [[*opening, *start] for start in starts],
        sampling,
        batch_size=config.batch_size,
        seeds=[config.seed * 1_000_003 + number for number in numbers],
    )
    special = set(model.tokenizer.all_special_ids)
    for number, kind, start, trace in zip(numbers, kinds, starts, traces, strict=True):
        written = [*start, *trace.token_ids]
        if trace.finish == "end_of_sequence":
            written.pop()
            prompt = model.decode(written).strip()
            if len(prompt.split()) > 1 and not special & set(written):
                yield {"prompt": prompt, "kind": kind, "number": number}
