"""Set Block Decoding behind model.generate() of transformers.

A caller passes this module's generate() to model.generate() as the argument custom_generate. A
folder with custom_generate/, see hub.py, has folder_generate() as its model.generate().
transformers prepares the inputs, the logits processors and the stopping criteria. Settings that
block decoding cannot follow raise ArgumentError.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import LongTensor, Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers.generation import (
    EosTokenCriteria,
    MaxLengthCriteria,
    StoppingCriteriaList,
    StopStringCriteria,
)
from transformers.utils import ModelOutput, logging

from sbd_core.config import MAX_ROWS, DecodeConfig
from sbd_core.decoding.api import stream_batch
from sbd_core.errors import ArgumentError
from sbd_core.events import StepEvent
from sbd_core.models.backends.transformers import TransformersBackend
from sbd_core.models.hf_model import TransformersModel
from sbd_core.models.logits_processors import (
    HONOURED,
    read_processors,
    unhonoured,
    with_processors,
)
from sbd_core.models.model_folder import BlockSettings, untrained_note
from sbd_core.models.probes import require_block_attention
from sbd_core.solvers import EntropyBound, Solver

logger = logging.get_logger(__name__)

HONOURED_HERE = HONOURED | {"stop_strings", "max_time", "token_healing", "num_return_sequences"}
"""Fields of a GenerationConfig that generate() follows; transformers itself sees to the added."""
ATTENTION = ("sdpa", "eager")
"""Attention implementations that take any mask; flash kernels take causal ones alone."""


@dataclass
class SetBlockOutput(ModelOutput):
    """The result of generate() if return_dict_in_generate is True.

    sequences: token ids (batch, prompt + answer).
    num_tokens: number of generated tokens of each text of the batch.
    num_forwards: number of forward passes for each text, prefill included.
    tokens_per_forward: generated tokens per forward pass (NFE speed-up), over the whole batch.
    tokens_per_revealing_forward: generated tokens per forward pass that revealed a token.
    """

    sequences: LongTensor | None = None
    num_tokens: tuple[int, ...] | None = None
    num_forwards: tuple[int, ...] | None = None
    tokens_per_forward: float | None = None
    tokens_per_revealing_forward: float | None = None


@dataclass(slots=True)
class _Text:
    """The state of one text of the batch.

    num_revealing: number of forward passes that revealed a token.
    known: {position: token id} of the tokens that are revealed but not committed yet.
    """

    prompt_ids: list[int]
    answer: list[int] = field(default_factory=list)
    num_forwards: int = 0
    num_revealing: int = 0
    is_stopped: bool = False
    known: dict[int, int] = field(default_factory=dict)


def generate(
    model: Any,
    input_ids: Tensor,
    logits_processor: Any = None,
    stopping_criteria: Any = None,
    generation_config: Any = None,
    synced_gpus: bool = False,  # noqa: FBT001, FBT002 - transformers' own signature
    *,
    strategy: Any = None,
    gamma: float | None = None,
    solver: Solver | None = None,
    block_size: int | None = None,
    max_rows: int = MAX_ROWS,
    seed: int | None = None,
    mask_token_id: int | None = None,
    allows_untrained_block_size: bool = False,
    token_streamer: Any = None,
    **model_kwargs: Any,
) -> Any:
    """Decode blocks in model.generate(**inputs, custom_generate=generate, gamma=.., block_size=..).

    transformers fills in the arguments before the star; the caller may give the others.
    strategy: None means sbd if gamma or a solver is given, else the model's own strategy.
    gamma: bound of the solver EntropyBound. Give either gamma or `solver`.
    block_size: None means 16, or the nearest size that the model was trained on.
    max_rows, allows_untrained_block_size: see DecodeConfig.
    seed: seed for do_sample; None draws one from torch's global generator. If there are several
        answers to a prompt, the first uses `seed`, the second seed + 1, and so on.
    mask_token_id: None means config.mask_token_id.
    token_streamer: a streamer of transformers. model.generate() does not pass on `streamer`.

    Returns token ids (batch, prompt + answer), or a SetBlockOutput if return_dict_in_generate is
    True. Raises ArgumentError, ModelError.
    """
    _refuse(generation_config, input_ids, model_kwargs, token_streamer)
    if strategy is None:
        by_folder = BlockSettings.of(model.config, type(model).__name__).strategy
        strategy = by_folder if gamma is None and solver is None else "sbd"
    if solver is None:
        solver = EntropyBound() if gamma is None else EntropyBound(gamma=gamma)
    elif gamma is not None:
        raise ArgumentError("gamma", "must not come with a solver, which has its own", gamma)
    if block_size is None:
        size = DecodeConfig().block_size
        low, high = BlockSettings.of(model.config, "model").block_range or (1, size)
        block_size = min(max(size, low), high)
    mask = model_kwargs.get("attention_mask")
    kept = torch.ones_like(input_ids) if mask is None else mask != 0
    num_padding = kept.int().argmax(dim=1).tolist()
    rules = read_processors(logits_processor or [], num_padding)
    ends = frozenset(_end_token_ids(generation_config))
    mask_token_id = _mask_token_id(model, mask_token_id, ends, is_needed=strategy != "ntp")
    name = model.config._name_or_path or type(model).__name__
    attention = model.config._attn_implementation
    if attention not in ATTENTION:
        raise ArgumentError("attn_implementation", "must be sdpa or eager", attention)
    require_block_attention(model, name)
    gate = getattr(model, "block_adapter", None)  # of sbd_core.hf.read_adapted
    wrapped: Any = TransformersModel(
        model,
        name,
        TransformersBackend(model, gate),
        mask_token_id=mask_token_id,
        end_token_ids=ends,
        compute_logit_stats=with_processors(rules),
        sampler_head=gate.sampler_head if gate else None,
    )
    if seed is None:
        seed = int(torch.randint(2**31, ())) if generation_config.do_sample else 0
    config = DecodeConfig(
        strategy=strategy,
        solver=solver,
        block_size=block_size,
        max_rows=max_rows,
        max_new_tokens=_max_new_tokens(wrapped, input_ids, generation_config),
        temperature=rules.temperature if generation_config.do_sample else 0.0,
        seed=seed,
        top_k_recorded=0,
        repetition_penalty=rules.penalty,
        allows_untrained_block_size=allows_untrained_block_size,
    )
    rows = [_Text(ids[keep].tolist()) for ids, keep in zip(input_ids, kept.bool(), strict=True)]
    # The answers to one prompt have seeds of their own.
    repeats = generation_config.num_return_sequences or 1
    seeds = [config.seed + index % repeats for index in range(len(rows))]
    prompts = [row.prompt_ids for row in rows]
    events = stream_batch(wrapped, prompts, config, batch_size=len(rows), seeds=seeds)
    if token_streamer is not None:
        token_streamer.put(input_ids.cpu())
    known = (EosTokenCriteria, MaxLengthCriteria)  # the engine applies these itself
    criteria = [one for one in stopping_criteria or () if not isinstance(one, known)]
    _decode(rows, events, StoppingCriteriaList(criteria), token_streamer, mask_token_id)
    return _output(rows, input_ids, generation_config)


def folder_generate(model: Any, inputs: Any = None, **arguments: Any) -> Any:
    """Serve as the generate() of a model folder whose custom_generate imports it.

    model.generate(**inputs) calls this function if the folder was loaded with trust_remote_code.
    transformers' own generate() prepares the inputs and then calls that of this module.
    arguments: those of transformers or of generate(). With custom_generate, that function or
    folder decodes instead of this code. stop_strings need a tokenizer, which also names the mask
    token if the config does not. Raises as generate() does.
    """
    by_transformers = partial(type(model).generate, model, inputs)
    if arguments.get("custom_generate") is not None:
        return by_transformers(**arguments)
    streamer, tokenizer = arguments.pop("streamer", None), arguments.pop("tokenizer", None)
    assistant = arguments.pop("assistant_model", None)
    if assistant is not None:
        rule = 'must not be given: a block is drafted by the model itself, see strategy="verify"'
        raise ArgumentError("assistant_model", rule, type(assistant).__name__)
    settings = copy.deepcopy(arguments.get("generation_config") or model.generation_config)
    stop_strings = arguments.pop("stop_strings", None) or settings.stop_strings
    criteria = StoppingCriteriaList(arguments.pop("stopping_criteria", None) or ())
    if settings.stop_strings:
        settings.stop_strings = None
        arguments["generation_config"] = settings
    if stop_strings:
        if tokenizer is None:
            raise ArgumentError("tokenizer", "must be given with stop_strings", None)
        criteria.append(StopStringCriteria(tokenizer, stop_strings))
    if tokenizer is not None and getattr(model.config, "mask_token_id", None) is None:
        arguments.setdefault("mask_token_id", tokenizer.mask_token_id)
    arguments["custom_generate"] = partial(generate, token_streamer=streamer)
    return by_transformers(stopping_criteria=criteria, **arguments)


def _decode(
    rows: Sequence[_Text],
    events: Iterator[tuple[int, StepEvent]],
    criteria: StoppingCriteriaList,
    streamer: Any,
    mask_token_id: int | None,
) -> None:
    """Add the tokens of all events to the texts and the streamer, until every text is stopped."""
    for index, event in events:
        row = rows[index]
        if row.is_stopped:
            continue
        row.num_forwards += 1
        row.num_revealing += bool(event.reveals)
        committed = _until_stopped(row, event.committed, criteria)
        if streamer is not None and committed:
            streamer.put(torch.tensor(committed))
        wants_drafts = hasattr(streamer, "put_draft") and not row.is_stopped
        if wants_drafts and (draft := _draft(row, event, mask_token_id)):
            streamer.put_draft(torch.tensor(draft))
        if all(one.is_stopped for one in rows):
            break
    if streamer is not None:
        streamer.end()


def _until_stopped(
    row: _Text, committed: Sequence[int], criteria: StoppingCriteriaList
) -> list[int]:
    """Add tokens to a text one by one until a criterion stops the text; return these tokens."""
    start = len(row.answer)
    for token_id in committed:
        row.answer.append(token_id)
        so_far = torch.tensor([[*row.prompt_ids, *row.answer]]) if criteria else None
        if criteria and bool(criteria(so_far, None).all()):
            row.is_stopped = True
            break
    return row.answer[start:]


def _draft(row: _Text, event: StepEvent, mask_token_id: int | None) -> list[int]:
    """The tokens known after the committed text, with mask tokens in the gaps; may be empty."""
    if event.draft:
        return list(event.draft)
    start = len(row.answer)
    row.known.update({reveal.position: reveal.token_id for reveal in event.reveals})
    row.known = {position: known for position, known in row.known.items() if position >= start}
    if not row.known or mask_token_id is None:
        return []
    return [row.known.get(i, mask_token_id) for i in range(start, max(row.known) + 1)]


def _output(rows: Sequence[_Text], input_ids: Tensor, generation_config: Any) -> Any:
    """Make the result of generate(): all prompts with their answers; short answers are padded."""
    padding = generation_config.pad_token_id
    if padding is None:
        padding = min(_end_token_ids(generation_config), default=0)
    answers = [input_ids.new_tensor(row.answer) for row in rows]
    padded = pad_sequence(answers, batch_first=True, padding_value=padding)
    sequences: Any = torch.cat([input_ids, padded], dim=1)
    if not generation_config.return_dict_in_generate:
        return sequences
    num_tokens = tuple(len(row.answer) for row in rows)
    return SetBlockOutput(
        sequences=sequences,
        num_tokens=num_tokens,
        num_forwards=tuple(row.num_forwards for row in rows),
        tokens_per_forward=sum(num_tokens) / sum(row.num_forwards for row in rows),
        tokens_per_revealing_forward=sum(num_tokens)
        / (sum(row.num_revealing for row in rows) or 1),
    )


def _refuse(
    generation_config: Any, input_ids: Tensor, inputs: dict[str, Any], streamer: Any
) -> None:
    """Raise ArgumentError for arguments of transformers that block decoding does not support."""
    other = unhonoured(generation_config, HONOURED_HERE)
    if other is not None:
        raise ArgumentError(other[0], "must not be set with Set Block Decoding", other[1])
    if inputs.get("inputs_embeds") is not None or not input_ids.shape[1]:
        raise ArgumentError("input_ids", "must be given; embeddings are not read", None)
    for name in ("cache", "past_key_values"):
        past = inputs.get(name)
        if past is not None and past.get_seq_length():
            rule = "must be empty: the prompt is read from its start"
            raise ArgumentError(name, rule, f"{past.get_seq_length()} tokens")
    if streamer is not None and input_ids.shape[0] > 1:
        rule = "needs a batch of 1, as text is streamed in reading order"
        raise ArgumentError("streamer", rule, f"a batch of {input_ids.shape[0]}")


def _mask_token_id(
    model: Any, given: int | None, ends: frozenset[int], *, is_needed: bool
) -> int | None:
    """Return the id of the mask token: `given`, or the config's if `given` is None.

    Raises ArgumentError if it is one of the end tokens `ends`, or is needed but missing.
    """
    mask_id = getattr(model.config, "mask_token_id", None) if given is None else given
    if mask_id in ends:
        raise ArgumentError("mask_token_id", "must not be a token that ends answers", mask_id)
    if not is_needed:
        return mask_id
    name = model.config._name_or_path or type(model).__name__
    if mask_id is None:
        rule = f"must be given, as the config of {name} names none: sbd prepare gives a model one"
        raise ArgumentError("mask_token_id", rule, None)
    note = untrained_note(model.config, name)
    if note is not None:
        logger.warning_once(note)
    return mask_id


def _max_new_tokens(model: TransformersModel, input_ids: Tensor, generation_config: Any) -> int:
    """Return the number of new tokens asked for, but no more than the model has positions left."""
    asked = int(generation_config.max_length) - input_ids.shape[1]
    left = asked if model.max_positions is None else model.max_positions - input_ids.shape[1]
    if not 0 < left < asked:
        return asked
    # No error, as the server of transformers asks every model for 1,024 tokens.
    logger.warning_once(
        f"max_new_tokens: {asked} are more than the {left} positions left of the model's "
        f"{model.max_positions}, where the answer will end"
    )
    return left


def _end_token_ids(generation_config: Any) -> list[int]:
    ids = generation_config.eos_token_id
    return [] if ids is None else [ids] if isinstance(ids, int) else [*map(int, ids)]
