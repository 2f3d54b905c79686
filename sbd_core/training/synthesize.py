"""Synthesis of training texts: a chat model makes up requests and answers them.

Requests are given, or sampled: the model continues the tokens that begin a user's turn. Answers are
decoded greedily with the repetition penalty that decoding will use. If the model is then fine-tuned
on these texts, it learns to predict its own words.
"""

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sbd_core.decoding.repetition import is_loop, scaled
from sbd_core.errors import ArgumentError, TrainingError, require_integer, require_number
from sbd_core.json_node import json_of
from sbd_core.models.backends.choose import fused_backend
from sbd_core.models.backends.llama.cuda_graph import captured
from sbd_core.models.backends.llama.forward import PaddedBatchAttention
from sbd_core.models.chat import encode_prompt
from sbd_core.models.hf_model import HuggingFaceModel
from sbd_core.sampling import forbid

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
TOP_P, NUM_CANDIDATES = 0.95, 200
"""Total probability and greatest number of the tokens from which a request's next is drawn."""
PASSES_BETWEEN_LOOKS = 8
"""Forward passes of a GPU before the host looks for finished texts; surplus tokens are dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisConfig:
    """Settings of a synthesis. Raises ArgumentError for an invalid value.

    num_examples: number of lines in the finished file.
    structured_ratio: share of the sampled requests that begin with one of OPENINGS.
    repetition_penalty: penalty on repeated tokens in answers, as in transformers.
    max_answer_tokens: greatest length of an answer in tokens; with 0, only requests are written.
    batch_size: number of texts decoded together.
    """

    num_examples: int = 25_000
    structured_ratio: float = 0.25
    repetition_penalty: float = 1.1
    max_answer_tokens: int = 160
    batch_size: int = 128
    seed: int = 0

    def __post_init__(self) -> None:
        leasts = {"num_examples": 1, "max_answer_tokens": 0, "batch_size": 1, "seed": 0}
        for name, least in leasts.items():
            require_integer(name, getattr(self, name), least)
        require_number("structured_ratio", self.structured_ratio, 0, 1)
        require_number("repetition_penalty", self.repetition_penalty, 1)


def synthesize(
    model: HuggingFaceModel,
    out: Path,
    config: SynthesisConfig,
    prompts: Sequence[str] = (),
    tell: Callable[[int, int], None] = lambda count, num_passes: None,
) -> int:
    """Append examples to the JSON Lines file `out` until it has config.num_examples lines.

    Returns the number of lines in `out`. A line has the keys prompt, kind (sampled, structured or
    asked), number (index of the text) and, unless only requests are written, answer and finished
    (False for a cut answer). Texts with repeated prompts or looping answers are dropped.
    prompts: requests to answer first, each once.
    tell: called with the number of lines and the number of forward passes so far.
    Raises ArgumentError if synthesize() did not write `out`, TrainingError without a chat template.
    """
    done = _read_done(out)
    tell(len(done), 0)
    if len(done) >= config.num_examples:
        return len(done)
    known = {" ".join(line["prompt"].lower().split()) for line in done}
    first = 1 + max((int(line["number"]) for line in done), default=-1)
    # Slots for texts that nobody waits for would take the time of the others.
    num_slots = min(config.batch_size, config.num_examples - len(done))
    writer = _Writer(model, replace(config, batch_size=num_slots), prompts)
    out.parent.mkdir(parents=True, exist_ok=True)
    count = len(done)
    with out.open("a", encoding="utf-8") as file:
        for num_passes, example in writer.examples(first):
            if not example:
                tell(count, num_passes)
                continue
            key = " ".join(example["prompt"].lower().split())
            if key in known or is_loop(example.get("answer", "")):
                continue
            known.add(key)
            file.write(json.dumps(example, ensure_ascii=False) + "\n")
            file.flush()
            count += 1
            tell(count, num_passes)
            if count >= config.num_examples:
                break
    return count


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


@dataclass(slots=True)
class _Text:
    """A text that is being written: a request if `prompt` is None, else an answer to `prompt`.

    number: index of the text. kind: "sampled", "structured" or "asked", as synthesize() tells.
    ids: token ids known at the beginning. start: index of the first token of the request or answer.
    uniforms: for each index, the random number in [0, 1) with which its token is sampled.
    """

    number: int
    kind: str
    ids: list[int]
    start: int
    uniforms: Tensor
    prompt: str | None = None


class _Writer:
    """Decodes a batch of texts, one per slot; when a text is finished, its slot begins another one.

    A forward pass reads one token per slot: the next token of a known prompt, or the token just
    chosen. All state is in tensors of fixed shape on the model's device, so that a GPU can replay a
    CUDA graph; the host looks for finished texts every few forward passes.
    """

    def __init__(
        self, model: HuggingFaceModel, config: SynthesisConfig, prompts: Sequence[str]
    ) -> None:
        self._model, self._config, self._prompts = model, config, prompts
        self._backend = backend = fused_backend(model)
        self._turn = self._turn_ids()
        self._passes = PASSES_BETWEEN_LOOKS if model.device.startswith("cuda") else 1
        longest = max([0, *(len(self._encoded(prompt)) for prompt in prompts)])
        most = max(MAX_REQUEST_TOKENS, config.max_answer_tokens) + self._passes
        room = max(longest, 2 * len(self._turn) + MAX_REQUEST_TOKENS) + most + 1
        count, device = config.batch_size, backend.weights.embedding.device
        self._pool = backend.new_caches(count)[0].pool
        self._pool.ensure_capacity(room)
        self._rotary = backend.rotary_until(room)
        self._tokens = torch.zeros(count, room, dtype=torch.long, device=device)
        """Tokens of every slot: the first _known are fixed, the first _length are in the cache."""
        self._length, self._known, self._start = self._tokens.new_zeros(3, count).unbind()
        self._slot = torch.arange(count, device=device)
        self._end_ids = torch.tensor(sorted(model.end_token_ids), device=device)
        vocab_size = backend.weights.head.shape[1]
        self._logits = torch.zeros(count, vocab_size, device=device)
        self._seen = torch.zeros(count, vocab_size, dtype=torch.bool, device=device)
        self._is_answer = self._seen.new_zeros(count)
        self._uniforms = torch.zeros(count, room, device=device)
        """See _Text."""

    def _turn_ids(self) -> list[int]:
        """Token ids that begin a user's turn. Raises TrainingError without a chat template."""
        tokenizer = self._model.tokenizer
        mark = "MARK"
        if not tokenizer.chat_template:
            raise TrainingError(f"model: {self._model.name} has no chat template to sample from")
        text = tokenizer.apply_chat_template(
            [{"role": "user", "content": mark}], tokenize=False, add_generation_prompt=True
        )
        return list(tokenizer.encode(text.split(mark)[0], add_special_tokens=False))

    def _encoded(self, prompt: str) -> list[int]:
        return encode_prompt(self._model.tokenizer, prompt, self._model.name, is_raw=False)

    @torch.inference_mode()
    def examples(self, first: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (number of forward passes so far, example) without end, as examples are finished.

        first: number of the first text. An empty example, {}, only reports the forward passes.
        """
        texts = [self._new_text(first + slot) for slot in range(self._config.batch_size)]
        number = first + len(texts)
        self._place(dict(enumerate(texts)), [[] for _ in texts])
        read = captured(self._read, self._logits)
        for num_passes in itertools.count(self._passes, self._passes):
            yield num_passes, {}
            for _ in range(self._passes):
                read()
                self._choose()
            done = self._done().tolist()
            tokens = self._tokens[done].tolist()
            known, length = self._known[done].tolist(), self._length[done].tolist()
            new: dict[int, _Text] = {}
            for slot, ids, stop in zip(done, tokens, known, strict=True):
                text = texts[slot]
                result = self._next_text(text, ids[text.start : stop])
                if isinstance(result, dict):
                    if result:
                        yield num_passes, result
                    result = self._new_text(number)
                    number += 1
                new[slot] = texts[slot] = result
            if new:
                read_ids = [ids[:count] for ids, count in zip(tokens, length, strict=True)]
                self._place(new, read_ids)

    def _new_text(self, number: int) -> _Text:
        """Begin text `number`: an answer if a prompt has this number, else a sampled request."""
        generator = torch.Generator().manual_seed(self._config.seed * 1_000_003 + number)
        if number < len(self._prompts):
            return self._new_answer(number, "asked", self._prompts[number])
        kind, request = "sampled", list[int]()
        if torch.rand((), generator=generator) < self._config.structured_ratio:
            index = int(torch.randint(len(OPENINGS), (), generator=generator))
            # The space before the next word belongs to that word's token.
            request = self._model.tokenizer.encode(OPENINGS[index], add_special_tokens=False)
            kind = "structured"
        uniforms = torch.rand(self._tokens.shape[1], generator=generator)
        return _Text(number, kind, [*self._turn, *request], len(self._turn), uniforms)

    def _new_answer(self, number: int, kind: str, prompt: str) -> _Text:
        """Begin a text in which the model answers `prompt`."""
        ids = self._encoded(prompt)
        return _Text(number, kind, ids, len(ids), torch.zeros(self._tokens.shape[1]), prompt)

    def _place(self, new: dict[int, _Text], cached: Sequence[Sequence[int]]) -> None:
        """Put the texts in `new` into their slots; keep cached tokens that a new text begins with.

        new: {slot: text}. cached: token ids in the KV cache of each of these slots.
        """
        kept = []
        for text, old in zip(new.values(), cached, strict=True):
            pairs = zip(old, text.ids[:-1], strict=False)
            same = next((i for i, (one, other) in enumerate(pairs) if one != other), None)
            kept.append(min(len(old), len(text.ids) - 1) if same is None else same)
        device = self._tokens.device
        texts = list(new.values())
        slots = torch.tensor(list(new), device=device)
        ids = torch.zeros(len(new), self._tokens.shape[1], dtype=torch.long)
        for row, text in zip(ids, texts, strict=True):
            row[: len(text.ids)] = torch.tensor(text.ids)
        known = torch.tensor([len(text.ids) for text in texts], device=device)
        ids = ids.to(device)
        self._tokens[slots] = ids
        self._known[slots] = known
        self._length[slots] = torch.tensor(kept, device=device)
        self._start[slots] = torch.tensor([text.start for text in texts], device=device)
        self._is_answer[slots] = torch.tensor([t.prompt is not None for t in texts], device=device)
        self._uniforms[slots] = torch.stack([text.uniforms for text in texts]).to(device)
        # Columns behind the text repeat its first token, which marks nothing new as seen.
        is_known = torch.arange(ids.shape[1], device=device) < known[:, None]
        self._seen[slots] = self._seen.new_zeros(len(new), self._seen.shape[1]).scatter_(
            1, ids.where(is_known, ids[:, :1]), value=True
        )

    def _read(self) -> None:
        """Run one forward pass over the next token of every slot."""
        backend, place = self._backend, self._length
        capacity = self._tokens.shape[1]
        if place.device.type == "cpu":
            capacity = int(place.max()) + 1
        nothing = torch.zeros_like(place)
        visible = torch.stack([place + 1, nothing, nothing])[..., None]
        attention = PaddedBatchAttention(
            self._pool, (self._slot, nothing, place), visible, capacity
        )
        ids = self._tokens.gather(1, place[:, None])[:, 0]
        hidden = backend.hidden(ids, backend.rotary_factors_at(place, self._rotary), [attention])
        self._logits.copy_(torch.mm(backend.weights.norm(hidden), backend.weights.head))

    def _choose(self) -> None:
        """Choose unknown next tokens: by sampling in a request, greedily in an answer."""
        config, logits = self._config, self._logits
        forbid(logits, [i for i in [self._model.mask_token_id] if i is not None])
        following = (self._length + 1)[:, None]
        best = logits.topk(min(NUM_CANDIDATES, logits.shape[1]))
        weights = best.values.softmax(-1)
        weights[weights.cumsum(-1) - weights > TOP_P] = 0
        total = weights.cumsum(-1)
        place = (total <= self._uniforms.gather(1, following) * total[:, -1:]).sum(-1, keepdim=True)
        drawn = best.indices.gather(1, place.clamp(max=total.shape[1] - 1))
        penalised = scaled(logits, config.repetition_penalty)
        answer = logits.where(~self._seen, penalised).argmax(-1, keepdim=True)
        chosen = answer.where(self._is_answer[:, None], drawn)
        stands = following < self._known[:, None]
        token_id = self._tokens.gather(1, following).where(stands, chosen)
        self._tokens.scatter_(1, following, token_id)
        self._seen.scatter_(1, token_id, value=True)
        self._length += 1
        torch.maximum(self._known, self._length + 1, out=self._known)

    def _done(self) -> Tensor:
        """Indices of the slots whose text has ended or has reached its greatest length."""
        place = torch.arange(self._tokens.shape[1], device=self._tokens.device)
        is_written = (place >= self._start[:, None]) & (place < self._known[:, None])
        is_end = (self._tokens[..., None] == self._end_ids).any(-1)
        config = self._config
        most = torch.where(self._is_answer, config.max_answer_tokens, MAX_REQUEST_TOKENS)
        return ((is_written & is_end).any(1) | (self._known - self._start >= most)).nonzero()[:, 0]

    def _next_text(self, text: _Text, written: Sequence[int]) -> _Text | dict[str, Any]:
        """Turn a finished request into an answer to begin, and a finished answer into an example.

        Returns {} for a text to drop. If only requests are written, a request becomes an example.
        written: token ids from the text's start on; all after the first end token are ignored.
        """
        config, end_ids = self._config, self._model.end_token_ids
        ends = (place for place, token_id in enumerate(written) if token_id in end_ids)
        stop = next(ends, len(written))
        if text.prompt is None:
            request = written[:stop]
            prompt = self._model.decode(request).strip()
            is_whole = stop < min(len(written), MAX_REQUEST_TOKENS)
            is_plain = not set(request) & set(self._model.tokenizer.all_special_ids)
            if not is_whole or not is_plain or len(prompt.split()) < 2:
                return {}
            if not config.max_answer_tokens:
                return {"prompt": prompt, "kind": text.kind, "number": text.number}
            return self._new_answer(text.number, text.kind, prompt)
        kept = written[: min(stop + 1, config.max_answer_tokens)]
        answer = self._model.decode(kept).strip()
        if not answer:
            return {}
        return {
            "prompt": text.prompt,
            "answer": answer,
            "finished": kept[-1] in end_ids,
            "kind": text.kind,
            "number": text.number,
        }
