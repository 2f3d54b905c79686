"""synthesize(): a chat model asks itself and answers, as text for training its masked rows.

A user's turn is sampled from the chat template, or comes from a file; the answer is greedy under
the repetition penalty that decoding will use. What fine-tuning is to predict is then the model's
own words. Knows nothing of how the text is used.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sbd_core.decoding.repetition import penalise
from sbd_core.errors import ArgumentError, TrainingError, require_integer, require_number
from sbd_core.json_node import json_of
from sbd_core.models.backends.choose import fused_backend
from sbd_core.models.chat import encode_prompt
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.models.protocol import ForwardRequest

OPENINGS = (
    "List three ",
    "List five ",
    "List the steps ",
    "Give me a list of ",
    "Give me three examples of ",
    "Write a step-by-step guide ",
    "What are the main ",
    "What are the differences between ",
    "Compare ",
    "Summarize ",
    "Rewrite the following sentence ",
    "Rewrite this paragraph ",
    "Correct the grammar: ",
    "Write a Python function ",
    "Write a function that ",
    "Write a SQL query ",
    "Write the HTML ",
    "Write a short email ",
    "Write a JSON object ",
    "Make a table ",
    "Create a recipe ",
    "Create an outline ",
    "Explain how to ",
    "Translate ",
)
"""How requests begin whose answers have a structure, so that many tokens a pass are to be had."""

HELD_OUT_SHARE = 50
"""One request in so many is held out."""
NUM_CANDIDATES = 200
"""Tokens that a request's next one is drawn from, at most."""
LOOP, MOST_REPEATS = 6, 3
"""Words of a run, and how often it may occur: greedy answers of small models repeat themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisConfig:
    """What is to be made. Raises ArgumentError naming the field, the rule and the value.

    num_examples: lines that the file is to hold in the end. structured_ratio: of the sampled
    requests that begin with one of OPENINGS. repetition_penalty: of the answers, as transformers
    has it. max_answer_tokens: 0 leaves the requests without answers. batch_size: texts decoded
    together.
    """

    num_examples: int = 25_000
    structured_ratio: float = 0.25
    repetition_penalty: float = 1.1
    temperature: float = 1.0
    top_p: float = 0.95
    max_request_tokens: int = 64
    max_answer_tokens: int = 160
    batch_size: int = 128
    seed: int = 0

    def __post_init__(self) -> None:
        require_integer("num_examples", self.num_examples, 1)
        require_number("structured_ratio", self.structured_ratio, 0, 1)
        require_number("repetition_penalty", self.repetition_penalty, 1)
        require_number("temperature", self.temperature, 0.01)
        require_number("top_p", self.top_p, 0.01, 1)
        require_integer("max_request_tokens", self.max_request_tokens, 4)
        require_integer("max_answer_tokens", self.max_answer_tokens, 0)
        require_integer("batch_size", self.batch_size, 1)
        require_integer("seed", self.seed, 0)


def is_held_out(prompt: str) -> bool:
    """Whether a request is for measuring alone: by its words, so in every file alike."""
    digest = hashlib.sha256(" ".join(prompt.lower().split()).encode()).digest()
    return int.from_bytes(digest[:8], "big") % HELD_OUT_SHARE == 0


def synthesize(
    model: HuggingFaceModel,
    out: Path,
    config: SynthesisConfig,
    prompts: Sequence[str] = (),
    tell: Callable[[int], None] = lambda count: None,
) -> int:
    """Add examples to the JSON Lines file `out` until it holds config.num_examples; their number.

    Each line has prompt, kind (sampled, structured or asked), answer, finished (the answer came to
    its end) and number, by which a run goes on where one was stopped. prompts: asked first, each
    once. tell: called with the number of lines as they are written. Duplicates and loops are
    dropped. Raises ArgumentError, TrainingError.
    """
    done = _read_done(out)
    tell(len(done))
    if len(done) >= config.num_examples:
        return len(done)
    known = {" ".join(line["prompt"].lower().split()) for line in done}
    first = 1 + max((int(line["number"]) for line in done), default=-1)
    writer = _Writer(model, config, prompts)
    out.parent.mkdir(parents=True, exist_ok=True)
    count = len(done)
    with out.open("a", encoding="utf-8") as file:
        for example in writer.examples(first):
            key = " ".join(example["prompt"].lower().split())
            if key in known or is_loop(example.get("answer", "")):
                continue
            known.add(key)
            file.write(json.dumps(example, ensure_ascii=False) + "\n")
            file.flush()
            count += 1
            tell(count)
            if count >= config.num_examples:
                break
    return count


def is_loop(text: str) -> bool:
    """Whether a text repeats itself: the same LOOP words more than MOST_REPEATS times."""
    words = text.split()
    starts = range(len(words) - LOOP + 1)
    runs = Counter(tuple(words[start : start + LOOP]) for start in starts)
    return max(runs.values(), default=0) > MOST_REPEATS


def _read_done(out: Path) -> list[dict[str, Any]]:
    """The lines of a file begun before; a last line that a kill cut short is dropped from it."""
    if not out.exists():
        return []
    try:
        text = out.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            out.write_text(whole, encoding="utf-8")
        done = [json_of(line) for line in whole.splitlines()]
        if not all(isinstance(line["prompt"], str) and int(line["number"]) >= 0 for line in done):
            raise ValueError("a line without prompt or number")
    except (OSError, ValueError, KeyError, TypeError) as error:
        rule = "must be a new file, or one that synthesize wrote"
        raise ArgumentError("out", rule, str(out)) from error
    return done


@dataclass(slots=True)
class _Slot:
    """A cache, the tokens in it, and those that the next forward pass reads."""

    cache: Any
    read: list[int] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)

    def set_text(self, token_ids: Sequence[int]) -> None:
        """Have the cache hold these tokens next; what it has of their beginning is kept."""
        pairs = zip(self.read, token_ids[:-1], strict=False)
        count = next((i for i, (old, new) in enumerate(pairs) if old != new), None)
        if count is None:
            count = min(len(self.read), len(token_ids) - 1)
        self.cache.truncate(count)
        self.read, self.unread = self.read[:count], list(token_ids[count:])


@dataclass(slots=True)
class _Text:
    """One example being written: first its request, then the answer."""

    number: int
    kind: str
    slot: "_Slot"
    generator: torch.Generator
    seen: set[int] = field(default_factory=set)
    request: list[int] = field(default_factory=list)
    prompt: str | None = None
    answer: list[int] = field(default_factory=list)


class _Writer:
    """Texts in a batch, each in a slot of its own: a slot whose text is done begins the next."""

    def __init__(
        self, model: HuggingFaceModel, config: SynthesisConfig, prompts: Sequence[str]
    ) -> None:
        self._model, self._config, self._prompts = model, config, prompts
        self._backend = fused_backend(model)
        self._turn = self._turn_ids()

    def _turn_ids(self) -> list[int]:
        """What the chat template writes before the user's words. Raises TrainingError."""
        tokenizer = self._model.tokenizer
        mark = "MARK"
        if not tokenizer.chat_template:
            raise TrainingError(f"model: {self._model.name} has no chat template to ask itself by")
        text = tokenizer.apply_chat_template(
            [{"role": "user", "content": mark}], tokenize=False, add_generation_prompt=True
        )
        return list(tokenizer.encode(text.split(mark)[0], add_special_tokens=False))

    def examples(self, first: int) -> Iterator[dict[str, Any]]:
        """Examples without end, numbered from `first` on, in the order they are finished."""
        texts, number = [], first
        for cache in self._backend.new_caches(self._config.batch_size):
            texts.append(self._begin(number, _Slot(cache)))
            number += 1
        while True:
            self._choose(texts, self._logits(texts))
            for index, text in enumerate(texts):
                example = self._finished(text)
                if example is None:
                    continue
                if example:
                    yield example
                texts[index] = self._begin(number, text.slot)
                number += 1

    def _logits(self, texts: Sequence[_Text]) -> Tensor:
        """(texts, vocab), of each text's last token.

        Those that read a prompt do so alone: beside them every text would be padded to its length.
        """
        slots = [text.slot for text in texts]
        requests = [ForwardRequest(slot.cache, slot.unread, (), 1) for slot in slots]
        long = [i for i, slot in enumerate(slots) if len(slot.unread) > 1]
        short = [i for i, slot in enumerate(slots) if len(slot.unread) == 1]
        rows = {i: self._backend.forward([requests[i]])[0] for i in long}
        if short:
            found = self._backend.forward([requests[i] for i in short])
            rows |= dict(zip(short, found, strict=True))
        for slot in slots:
            slot.read += slot.unread
        return torch.cat([rows[i] for i in range(len(texts))])

    def _begin(self, number: int, slot: _Slot) -> _Text:
        """The text of that number: of the prompts given, else a request to be sampled."""
        generator = torch.Generator().manual_seed(self._config.seed * 1_000_003 + number)
        if number < len(self._prompts):
            text = _Text(number, "asked", slot, generator)
            self._ask(text, self._prompts[number])
            return text
        kind, request = "sampled", list[int]()
        if torch.rand((), generator=generator) < self._config.structured_ratio:
            index = int(torch.randint(len(OPENINGS), (), generator=generator))
            # The space before the next word belongs to that word's token.
            opening = OPENINGS[index].rstrip()
            request = self._model.tokenizer.encode(opening, add_special_tokens=False)
            kind = "structured"
        slot.set_text([*self._turn, *request])
        return _Text(number, kind, slot, generator, request=request)

    def _ask(self, text: _Text, prompt: str) -> None:
        """Have the model answer a request that is whole."""
        text.prompt = prompt
        ids = encode_prompt(self._model.tokenizer, prompt, self._model.name, is_raw=False)
        text.slot.set_text(ids)
        text.seen = set(ids)

    @torch.inference_mode()
    def _choose(self, texts: Sequence[_Text], logits: Tensor) -> None:
        """The next token of every text, out of logits (texts, vocab)."""
        mask_id = self._model.mask_token_id
        if mask_id is not None:
            logits[:, mask_id] = -torch.inf
        asking = [i for i, text in enumerate(texts) if text.prompt is None]
        answering = [i for i, text in enumerate(texts) if text.prompt is not None]
        chosen = [0] * len(texts)
        if asking:
            best = (logits[asking] / self._config.temperature).topk(NUM_CANDIDATES)
            weights = best.values.softmax(-1)
            weights[weights.cumsum(-1) - weights > self._config.top_p] = 0
            for row, index in enumerate(asking):
                drawn = torch.multinomial(weights[row], 1, generator=texts[index].generator)
                chosen[index] = int(best.indices[row, drawn])
        if answering:
            rows = logits[answering]
            seen = [texts[i].seen for i in answering]
            penalise(rows, seen, self._config.repetition_penalty)
            for index, token_id in zip(answering, rows.argmax(-1).tolist(), strict=True):
                chosen[index] = token_id
        for text, token_id in zip(texts, chosen, strict=True):
            text.slot.unread = [token_id]
            if text.prompt is None:
                text.request.append(token_id)
            else:
                text.answer.append(token_id)
                text.seen.add(token_id)

    def _finished(self, text: _Text) -> dict[str, Any] | None:
        """The example of a text that is done, {} where nothing came of it, else None."""
        config, end_ids = self._config, self._model.end_token_ids
        if text.prompt is None:
            if text.request[-1] in end_ids:
                prompt = self._model.decode(text.request[:-1]).strip()
                if len(prompt.split()) < 2:
                    return {}
                if not config.max_answer_tokens:
                    return {"prompt": prompt, "kind": text.kind, "number": text.number}
                self._ask(text, prompt)
                return None
            is_special = text.request[-1] in self._model.tokenizer.all_special_ids
            return {} if is_special or len(text.request) >= config.max_request_tokens else None
        is_finished = text.answer[-1] in end_ids
        if not is_finished and len(text.answer) < config.max_answer_tokens:
            return None
        answer = self._model.decode(text.answer).strip()
        if not answer:
            return {}
        return {
            "prompt": text.prompt,
            "answer": answer,
            "finished": is_finished,
            "kind": text.kind,
            "number": text.number,
        }
