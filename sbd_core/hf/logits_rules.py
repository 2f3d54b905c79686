"""The logits processors of transformers that mean the same for every position of a block.

A processor that looks at the tokens before a position cannot be honoured, since the positions of
a block are predicted together: it is refused by name.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers.generation import logits_process as kinds

from sbd_core.errors import ArgumentError
from sbd_core.sampling import ComputeLogitStats, LogitStats, LogitStatsSpec, compute_logit_stats

EVERYWHERE_ALIKE: tuple[type, ...] = (
    kinds.SuppressTokensLogitsProcessor,
    kinds.TopKLogitsWarper,
    kinds.TopPLogitsWarper,
    kinds.MinPLogitsWarper,
    kinds.TypicalLogitsWarper,
    kinds.EpsilonLogitsWarper,
    kinds.EtaLogitsWarper,
    kinds.InfNanRemoveLogitsProcessor,
    kinds.LogitNormalization,
)
SETTINGS: dict[type, str] = {
    kinds.RepetitionPenaltyLogitsProcessor: "repetition_penalty",
    kinds.NoRepeatNGramLogitsProcessor: "no_repeat_ngram_size",
    kinds.MinLengthLogitsProcessor: "min_new_tokens",
    kinds.MinNewTokensLengthLogitsProcessor: "min_new_tokens",
    kinds.ForcedBOSTokenLogitsProcessor: "forced_bos_token_id",
    kinds.ForcedEOSTokenLogitsProcessor: "forced_eos_token_id",
    kinds.PrefixConstrainedLogitsProcessor: "prefix_allowed_tokens_fn",
    kinds.SequenceBiasLogitsProcessor: "sequence_bias",
    kinds.NoBadWordsLogitsProcessor: "bad_words_ids",
    kinds.SuppressTokensAtBeginLogitsProcessor: "begin_suppress_tokens",
    kinds.UnbatchedClassifierFreeGuidanceLogitsProcessor: "guidance_scale",
    kinds.ExponentialDecayLengthPenalty: "exponential_decay_length_penalty",
    kinds.WatermarkLogitsProcessor: "watermarking_config",
    kinds.SynthIDTextWatermarkLogitsProcessor: "watermarking_config",
}
"""The argument of generate() that brings a processor which is refused."""


def split_at_temperature(processors: Sequence[Any]) -> tuple[list[Any], float, list[Any]]:
    """(those before the temperature, the temperature, those after it). Raises ArgumentError."""
    before: list[Any] = []
    after: list[Any] = []
    temperature, current = 1.0, before
    for processor in processors:
        if isinstance(processor, kinds.TemperatureLogitsWarper):
            temperature, current = temperature * float(processor.temperature), after
        elif _is_alike_everywhere(processor):
            current.append(processor)
        else:
            raise ArgumentError(
                SETTINGS.get(type(processor), "logits_processor"),
                "must not be set, as it depends on the tokens before a position and a block is "
                "predicted all at once",
                type(processor).__name__,
            )
    return before, temperature, after


def _is_alike_everywhere(processor: Any) -> bool:
    if isinstance(processor, kinds.SequenceBiasLogitsProcessor):  # also of bad words
        return all(len(sequence) == 1 for sequence in processor.sequence_bias)
    return type(processor) in EVERYWHERE_ALIKE


def with_processors(
    before: Sequence[Any], temperature: float, after: Sequence[Any]
) -> ComputeLogitStats:
    """compute_logit_stats() of logits that the processors have changed in place."""
    if not before and not after:
        return compute_logit_stats

    @torch.inference_mode()
    def processed(logits: Tensor, start: int, stop: int, spec: LogitStatsSpec) -> LogitStats:
        rows = logits[start:stop]
        # No processor of these looks at the tokens; one of them asks how many there are.
        nothing = torch.zeros((rows.shape[0], 1), dtype=torch.long, device=rows.device)
        scores = rows
        for processor in before:
            scores = processor(nothing, scores)
        # These were made for logits over the temperature, by which sampling divides later.
        scores = scores / temperature
        for processor in after:
            scores = processor(nothing, scores)
        rows.copy_(scores * temperature)
        return compute_logit_stats(logits, start, stop, spec)

    return processed
