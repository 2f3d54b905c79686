"""Applies those logits processors of transformers that treat all positions of a block alike.

The positions of a block are predicted together, so a processor that depends on the tokens before a
position cannot be applied: an error names it. The exception is the repetition penalty, which
decoding applies itself.
"""

import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from transformers import GenerationConfig
from transformers.generation import logits_process as kinds

from sbd_core.errors import ArgumentError, ModelError, one_line
from sbd_core.sampling import (
    ComputeLogitStats,
    LogitStats,
    LogitStatsSpec,
    compute_logit_stats,
    forbid,
)

EVERYWHERE_ALIKE: tuple[type, ...] = (
    kinds.SuppressTokensLogitsProcessor,
    kinds.TopKLogitsWarper,
    kinds.TopPLogitsWarper,
    kinds.TopHLogitsWarper,
    kinds.MinPLogitsWarper,
    kinds.TypicalLogitsWarper,
    kinds.EpsilonLogitsWarper,
    kinds.EtaLogitsWarper,
    kinds.InfNanRemoveLogitsProcessor,
    kinds.LogitNormalization,
)
BEFORE_A_PENALTY: tuple[type, ...] = (
    kinds.SuppressTokensLogitsProcessor,
    kinds.NoBadWordsLogitsProcessor,
    kinds.InfNanRemoveLogitsProcessor,
)
"""Processors that may come before a repetition penalty, as the order does not change the logits."""
SETTINGS: dict[type, str] = {
    kinds.MinLengthLogitsProcessor: "min_new_tokens",
    kinds.MinNewTokensLengthLogitsProcessor: "min_new_tokens",
    kinds.ForcedBOSTokenLogitsProcessor: "forced_bos_token_id",
    kinds.ForcedEOSTokenLogitsProcessor: "forced_eos_token_id",
    kinds.PrefixConstrainedLogitsProcessor: "prefix_allowed_tokens_fn",
    kinds.SequenceBiasLogitsProcessor: "sequence_bias",
    kinds.NoBadWordsLogitsProcessor: "bad_words_ids",
}
"""Processors that may depend on earlier tokens: {class: argument of generate() that adds it}."""
HONOURED = frozenset(
    (
        # By logits processors, which read_processors() takes or refuses by name.
        *("do_sample", "temperature", "top_k", "top_p", "min_p", "top_h", "typical_p"),
        *("epsilon_cutoff", "eta_cutoff", "repetition_penalty", "bad_words_ids", "sequence_bias"),
        *("renormalize_logits", "remove_invalid_values", "suppress_tokens", "min_length"),
        *("min_new_tokens", "forced_bos_token_id", "forced_eos_token_id"),
        # By decoding itself.
        *("max_length", "max_new_tokens", "pad_token_id", "bos_token_id", "eos_token_id"),
        # They change no token: caches, compilation, beams and assistants that nobody asks for.
        *("use_cache", "cache_implementation", "cache_config", "max_cache_len", "low_memory"),
        *("compile_config", "disable_compile", "continuous_batching_config", "prefill_chunk_size"),
        *("early_stopping", "length_penalty", "decoder_start_token_id", "is_assistant"),
        *("num_assistant_tokens", "num_assistant_tokens_schedule", "assistant_early_exit"),
        *("assistant_confidence_threshold", "assistant_lookbehind", "target_lookbehind"),
        *("assistant_ensemble_weight", "max_matching_ngram_size", "speculation_type"),
        *("return_dict_in_generate", "transformers_version", "_from_model_config"),
    )
)
"""Fields of a GenerationConfig that decoding follows, or that change no token."""


def unhonoured(config: Any, honoured: Collection[str]) -> tuple[str, Any] | None:
    """Find the first field of a GenerationConfig that is set and that decoding would ignore.

    honoured: names of the fields that are followed. Returns (name, value); None if there is none.
    """
    for name in sorted(GenerationConfig().to_dict().keys() - honoured):
        value = getattr(config, name, None)
        if value is True or value not in (None, 0, 1):  # 1 as of num_beams
            return name, value
    return None


@dataclass(frozen=True, slots=True)
class LogitsRules:
    """The logits processors to apply to every position.

    penalty: repetition penalty; 1 means none.
    before, after: processors of the logits, and of the logits divided by `temperature`.
    sampled: replaces `after`, unless empty, if a DecodeConfig samples; its temperature then
        replaces `temperature`.
    """

    penalty: float
    before: list[Any]
    temperature: float
    after: list[Any]
    sampled: list[Any] = field(default_factory=list)


def read_processors(processors: Sequence[Any], num_padding: Collection[int]) -> LogitsRules:
    """Make rules of transformers' logits processors, given in the order in which they apply.

    num_padding: number of padding tokens before each prompt; a penalty may ignore only these.
    Raises ArgumentError for a processor that cannot be applied.
    """
    before, after = list[Any](), list[Any]()
    penalty, temperature, current = 1.0, 1.0, before
    for processor in processors:
        if isinstance(processor, kinds.TemperatureLogitsWarper):
            temperature, current = temperature * float(processor.temperature), after
        elif isinstance(processor, kinds.RepetitionPenaltyLogitsProcessor):
            penalty *= _penalty_of(processor, num_padding, [*before, *after])
        elif type(processor) in EVERYWHERE_ALIKE or (
            isinstance(
                processor, kinds.SequenceBiasLogitsProcessor
            )  # or its subclass for bad words
            and all(len(sequence) == 1 for sequence in processor.sequence_bias)
        ):
            current.append(processor)
        else:
            name = SETTINGS.get(type(processor), "logits_processor")
            rule = "must not be set, as it depends on the tokens before a position"
            rule += " and a block is predicted all at once"
            raise ArgumentError(name, rule, type(processor).__name__)
    return LogitsRules(penalty, before, temperature, after)


def rules_of_folder(model: Any, mask_token_id: int | None, name: str) -> LogitsRules:
    """Read the rules of a model's generation_config, without repetition penalty and temperature.

    mask_token_id: the mask token, which these rules need not suppress; None if there is none.
    top_k, top_p and the like become `sampled`. Raises ModelError for what cannot be applied.
    """
    config = copy.deepcopy(model.generation_config)
    # Decoding itself handles penalty and mask; DecodeConfig says whether to sample, and how.
    config.repetition_penalty = None
    config.suppress_tokens = [i for i in config.suppress_tokens or () if i != mask_token_id] or None
    config.do_sample, config.temperature = False, None
    config.renormalize_logits = False  # changes no choice
    if config.top_k == -1:  # vLLM's way to name no limit
        config.top_k = None
    subject = f"{name}: its generation_config asks for"
    other = unhonoured(config, HONOURED)
    if other is not None:
        raise ModelError(f"{subject} {other[0]}, which is another kind of decoding: remove it")
    try:
        model._prepare_special_tokens(config, device=model.device)
        options = {"input_ids_seq_length": 1, "device": model.device}
        rules = read_processors(model._get_logits_processor(config, **options), ())
        config.do_sample = True
        every = model._get_logits_processor(config, **options)
        sampled = read_processors(every, ()).before[len(rules.before) :]
        return replace(rules, sampled=sampled)
    except ArgumentError as error:
        raise ModelError(f"{subject} {error.argument}, which {error.rule}: remove it") from error
    except (ValueError, TypeError) as error:
        reason = one_line(error)
        raise ModelError(f"{name}: its generation_config cannot be used: {reason}") from error


def _penalty_of(processor: Any, num_padding: Collection[int], earlier: Sequence[Any]) -> float:
    """Return the penalty of a repetition penalty processor, which comes after `earlier` ones.

    Raises ArgumentError if it must not, or if it ignores prompt tokens other than padding.
    """
    ignored = processor.prompt_ignore_length
    lengths = ignored.tolist() if isinstance(ignored, Tensor) else [ignored or 0]
    if not set(lengths) <= {0, *num_padding}:
        rule = "must count the whole prompt, without a prompt_ignore_length"
        raise ArgumentError("repetition_penalty", rule, lengths)
    for other in earlier:
        if type(other) not in BEFORE_A_PENALTY:
            name = type(other).__name__
            rule = f"must not come after {name}, as it is applied to the model's own logits"
            raise ArgumentError("repetition_penalty", rule, processor.penalty)
    return float(processor.penalty)


def with_processors(rules: LogitsRules) -> ComputeLogitStats:
    """Make a compute_logit_stats() that first applies processors to the logits, in place.

    The repetition penalty is left out, as it depends on the tokens before each position.
    """

    @torch.inference_mode()
    def processed(logits: Tensor, start: int, stop: int, spec: LogitStatsSpec) -> LogitStats:
        temperature, after = rules.temperature, rules.after
        if spec.temperature and rules.sampled:
            temperature, after = spec.temperature, rules.sampled
        if rules.before or after:
            rows = scores = logits[start:stop]
            if spec.forbidden_id is not None:  # else top-k would count it
                forbid(rows, [spec.forbidden_id])
            # None of these processors looks at the tokens; one asks how many there are.
            nothing = torch.zeros((rows.shape[0], 1), dtype=torch.long, device=rows.device)
            for processor in rules.before:
                scores = processor(nothing, scores)
            # Those after the temperature expect divided logits; sampling divides again, later.
            scores = scores / temperature
            for processor in after:
                scores = processor(nothing, scores)
            rows.copy_(scores * temperature)
        return compute_logit_stats(logits, start, stop, spec)

    return processed
