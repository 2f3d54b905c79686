"""The public functions that decode: stream() gives one event per forward pass, generate() a trace.

stream_batch() and generate_batch() do the same for many prompts in joint forward passes. Every
argument is checked before decoding begins.
"""

import operator
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from sbd_core.config import DecodeConfig
from sbd_core.decoding.ntp import NextTokenPrediction
from sbd_core.decoding.sbd import set_block_decoding
from sbd_core.decoding.state import DecodingState, ForwardResult, Strategy
from sbd_core.decoding.verify import DraftAndVerify
from sbd_core.environment import versions
from sbd_core.errors import ArgumentError, require_integer
from sbd_core.events import StepEvent
from sbd_core.models.protocol import Cache, ForwardRequest, Message, SetBlockModel
from sbd_core.models.runtime import one_thread_between_passes
from sbd_core.trace import Finish, Trace, committed_token_ids

Prompt = str | Sequence[int] | Sequence[Mapping[str, str]]
"""A text, token ids, or a conversation as transformers has it: messages of role and content."""

ROLES = ("system", "user", "assistant")

BATCH_SIZE = 32
STRATEGIES: dict[str, Callable[[DecodingState], Strategy]] = {
    "ntp": NextTokenPrediction,
    "sbd": set_block_decoding,
    "verify": DraftAndVerify,
}


def resolve_defaults(model: SetBlockModel, config: DecodeConfig) -> DecodeConfig:
    """Fill in strategy and penalty. Raises ArgumentError for what the model cannot decode with."""
    if config.strategy is None:
        config = replace(config, strategy=model.strategy)
    if config.repetition_penalty is None:
        config = replace(config, repetition_penalty=model.repetition_penalty)
    if config.strategy == "ntp":
        return config
    if model.mask_token_id is None:
        rule = (
            f"must be ntp, as the tokenizer of {model.name} has no mask token: "
            "sbd prepare gives it one, sbd train teaches it"
        )
        raise ArgumentError("strategy", rule, config.strategy)
    low, high = model.block_range or (1, config.block_size)
    if not (low <= config.block_size <= high or config.allows_untrained_block_size):
        rule = f"must be from {low} to {high}, the sizes {model.name} was trained on"
        raise ArgumentError("block_size", rule, config.block_size)
    for offset, token_id in config.pinned.items():
        _token_id(model, f"pinned[{offset}]", token_id)
        if token_id == model.mask_token_id:
            raise ArgumentError(f"pinned[{offset}]", "must not be the mask token", token_id)
    return config


class Stream(Iterator[StepEvent]):
    """An iterator over the events of one decode. Each step makes one forward pass.

    config: the given config with its defaults filled in by resolve_defaults().
    """

    def __init__(self, model: SetBlockModel, prompt: Prompt, config: DecodeConfig) -> None:
        self.config = config = resolve_defaults(model, config)
        prompt_ids = prompt_token_ids(model, prompt, config)
        self._asked = (model, prompt, prompt_ids, config)
        self._left = _events(model, [prompt_ids], [config], model.new_caches(1))
        self._done: list[StepEvent] = []

    def __next__(self) -> StepEvent:
        """Make the next forward pass and return its event."""
        _, event = next(self._left)
        self._done.append(event)
        return event

    def trace(self) -> Trace:
        """The trace of the events so far. Its `finish` is "stopped" if the answer is incomplete."""
        return make_trace(*self._asked, self._done)


def stream(model: SetBlockModel, prompt: Prompt, config: DecodeConfig) -> Stream:
    """Decode a prompt. Returns an iterator of events, one per forward pass, with a trace() method.

    prompt: a text, which the chat template wraps unless config.is_raw_prompt; token ids, which are
        read as they are; or messages [{"role": "user", "content": ...}, ...], which the chat
        template joins.
    Raises ArgumentError when called, not when the first event is asked for.
    """
    return Stream(model, prompt, config)


def stream_batch(
    model: SetBlockModel,
    prompts: Sequence[Prompt],
    config: DecodeConfig,
    *,
    batch_size: int = BATCH_SIZE,
    seeds: Sequence[int] | None = None,
) -> Iterator[tuple[int, StepEvent]]:
    """Decode many prompts, at most `batch_size` at a time. Yields (index of the prompt, event).

    seeds: one seed per prompt; None takes config.seed for every prompt.
    The events of each prompt are those that stream() gives, up to rounding. An event's seconds are
    the prompt's share of a joint forward pass. Raises ArgumentError when called, as stream() does.
    """
    require_integer("batch_size", batch_size, 1)
    config = resolve_defaults(model, config)
    prompts_ids = [prompt_token_ids(model, prompt, config) for prompt in prompts]
    caches = model.new_caches(min(batch_size, len(prompts_ids))) if prompts_ids else ()
    return _events(model, prompts_ids, _configs(config, seeds, len(prompts_ids)), caches)


def generate(model: SetBlockModel, prompt: Prompt, config: DecodeConfig) -> Trace:
    """Decode a prompt to the end and return the trace. For arguments and errors see stream()."""
    events = stream(model, prompt, config)
    for _ in events:
        pass
    return events.trace()


def generate_batch(
    model: SetBlockModel,
    prompts: Sequence[Prompt],
    config: DecodeConfig,
    *,
    batch_size: int = BATCH_SIZE,
    seeds: Sequence[int] | None = None,
) -> list[Trace]:
    """Decode many prompts to the end and return their traces, in order. See stream_batch()."""
    config = resolve_defaults(model, config)
    events: list[list[StepEvent]] = [[] for _ in prompts]
    read = [prompt_token_ids(model, prompt, config) for prompt in prompts]
    for index, event in stream_batch(model, read, config, batch_size=batch_size, seeds=seeds):
        events[index].append(event)
    configs = _configs(config, seeds, len(prompts))
    return [
        make_trace(model, prompt, prompt_ids, one, done)
        for prompt, prompt_ids, one, done in zip(prompts, read, configs, events, strict=True)
    ]


def _configs(config: DecodeConfig, seeds: Sequence[int] | None, count: int) -> list[DecodeConfig]:
    """One config for each of `count` prompts: `config`, but with the prompt's seed if given."""
    if seeds is not None and len(seeds) != count:
        raise ArgumentError("seeds", f"must be one seed per prompt ({count})", len(seeds))
    return [
        replace(config, seed=seed) for seed in ([config.seed] * count if seeds is None else seeds)
    ]


def make_trace(
    model: SetBlockModel,
    prompt: Prompt,
    prompt_ids: Sequence[int],
    config: DecodeConfig,
    events: Iterable[StepEvent],
) -> Trace:
    """Make the trace of a decode from its events, which may end before the answer does.

    prompt_ids: result of prompt_token_ids() for this model, prompt and config.
    config: settings of the decode. The trace holds them with defaults filled in.
    """
    config = resolve_defaults(model, config)
    done = tuple(events)
    messages = messages_of(prompt)
    last = messages[-1][1] if messages else ""
    answer = committed_token_ids(done)
    mentioned = {*prompt_ids}.union(*(event.mentioned_token_ids for event in done))
    finish: Finish = "length" if len(answer) >= config.max_new_tokens else "stopped"
    if not model.end_token_ids.isdisjoint(answer[-1:]):
        finish = "end_of_sequence"
    return Trace(
        model=model.name,
        config=config,
        prompt=prompt if isinstance(prompt, str) else last,
        prompt_token_ids=tuple(prompt_ids),
        events=done,
        tokens={token_id: model.token_text(token_id) for token_id in sorted(mentioned)},
        text=model.decode(answer),
        finish=finish,
        versions=made_by(model, config),
        shape=model.shape,
        end_token_ids=tuple(sorted(model.end_token_ids)),
        weights=model.weights,
        messages=messages,
    )


def made_by(model: SetBlockModel, config: DecodeConfig) -> dict[str, str]:
    """The versions of the libraries and, for verify, the "exactness" of the model; see Trace."""
    exactness = getattr(model, "exactness", None) if config.strategy == "verify" else None
    return versions() | ({} if exactness is None else {"exactness": exactness})


def prompt_token_ids(model: SetBlockModel, prompt: Prompt, config: DecodeConfig) -> tuple[int, ...]:
    """The prompt's token ids as the model reads them. Raises ArgumentError for an unfit prompt."""
    messages = messages_of(prompt)
    if isinstance(prompt, str):
        _check_text(model, prompt)
        token_ids = model.encode(prompt, is_raw=config.is_raw_prompt)
    elif messages:
        if config.is_raw_prompt:
            raise ArgumentError("prompt", "must be text with is_raw_prompt", prompt)
        _check_text(model, "".join(content for _, content in messages))
        token_ids = model.encode(messages, is_raw=False)
    else:
        try:
            ids: Any = prompt.tolist() if hasattr(prompt, "tolist") else prompt  # of an array
            token_ids = tuple(ids)
        except TypeError as error:
            rule = "must be text, messages or a sequence of token ids"
            raise ArgumentError("prompt", rule, prompt) from error
        token_ids = tuple(_token_id(model, "prompt", token_id) for token_id in token_ids)
    if not token_ids:
        raise ArgumentError("prompt", "must hold at least one token", prompt)
    unread = next((token_id for token_id in token_ids if token_id >= model.vocabulary_size), None)
    if unread is not None:  # tokens were added to its tokenizer without embedding rows for them
        rule = f"must hold no token that {model.name} has no embedding for"
        raise ArgumentError("prompt", rule, model.token_text(unread))
    length = len(token_ids) + config.max_new_tokens
    if model.max_positions is not None and length > model.max_positions:
        rule = (
            "must leave room: its tokens and max_new_tokens together must be at most "
            f"{model.max_positions}, the reach of {model.name}"
        )
        raise ArgumentError("prompt", rule, f"{len(token_ids)} + {config.max_new_tokens}")
    return token_ids


def messages_of(prompt: Prompt) -> tuple[Message, ...]:
    """The (role, content) pairs of a conversation; empty if the prompt is text or token ids.

    Raises ArgumentError for a malformed message, or if the last message is not the user's.
    """
    if not isinstance(prompt, Sequence) or not any(isinstance(item, Mapping) for item in prompt):
        return ()
    messages = []
    for item in prompt:
        fields = item if isinstance(item, Mapping) else {}
        role, content = fields.get("role"), fields.get("content")
        if role not in ROLES or not isinstance(content, str) or not content.strip():
            rule = f"must be messages of a role ({', '.join(ROLES)}) and a content, a text"
            raise ArgumentError("prompt", rule, item)
        messages.append((role, content))
    if messages[-1][0] != "user":
        raise ArgumentError("prompt", "must end with a message of the user", messages[-1][0])
    return tuple(messages)


def _check_text(model: SetBlockModel, text: str) -> None:
    if not text.strip():
        raise ArgumentError("prompt", "must not be empty", text)
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise ArgumentError("prompt", "must be Unicode text without lone surrogates", text)
    # No tokenizer packs 100 characters into a token on average: such a text cannot fit,
    # and encoding it to find out could take minutes.
    if model.max_positions and len(text) > 100 * model.max_positions:
        rule = f"must be at most {100 * model.max_positions} characters for {model.name}"
        raise ArgumentError("prompt", rule, f"{len(text)} characters")


def _events(
    model: SetBlockModel,
    prompts_ids: Sequence[Sequence[int]],
    configs: Sequence[DecodeConfig],
    caches: Sequence[Cache],
) -> Iterator[tuple[int, StepEvent]]:
    """Decode prompts, one at a time in each cache. Yields (index of the prompt, event).

    configs: one per prompt.
    """
    waiting = list(enumerate(zip(prompts_ids, configs, strict=True)))[::-1]
    active: list[tuple[int, Strategy, ForwardRequest]] = []
    free = list(caches)
    while waiting or active:
        while waiting and free:
            index, (prompt_ids, config) = waiting.pop()
            cache = free.pop()
            cache.truncate(0)
            assert config.strategy is not None  # see resolve_defaults()
            strategy = STRATEGIES[config.strategy](DecodingState(model, cache, prompt_ids, config))
            request = strategy.next_request()
            assert request is not None
            active.append((index, strategy, request))
        results = _results(model, [request for _, _, request in active])
        done, active = active, []
        for (index, strategy, asked), result in zip(done, results, strict=True):
            with one_thread_between_passes(model):
                event, request = strategy.update(result), strategy.next_request()
            yield index, event
            if request is None:
                free.append(asked.cache)
            else:
                active.append((index, strategy, request))


def _results(model: SetBlockModel, requests: Sequence[ForwardRequest]) -> list[ForwardResult]:
    """Make one joint forward pass. Each text's seconds are in proportion to its number of rows."""
    began = time.perf_counter()
    logits = model.forward_batch(requests)
    if len(logits) > 1 and logits[0].is_cuda:
        torch.cuda.synchronize(logits[0].device)  # the pass must be over, as its time is shared
    sizes = [request.num_rows for request in requests]
    seconds_per_row = (time.perf_counter() - began) / sum(sizes)
    parts = zip(logits, sizes, strict=True)
    return [ForwardResult(rows, seconds_per_row * size) for rows, size in parts]


def _token_id(model: SetBlockModel, argument: str, given: object) -> int:
    """Return a token id as an int; `given` may also be a whole number of NumPy or torch."""
    try:
        token_id = -1 if isinstance(given, bool) else operator.index(given)  # type: ignore[arg-type]
    except TypeError:
        token_id = -1
    if not 0 <= token_id < model.vocabulary_size:
        rule = f"must hold token ids from 0 to {model.vocabulary_size - 1}, in one sequence"
        raise ArgumentError(argument, rule, given)
    return token_id
