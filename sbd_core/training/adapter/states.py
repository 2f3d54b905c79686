"""Block states: a text, where blocks stand in it, and which of their positions are masked.

A state is what decoding may meet: all tokens before the block are known, and of the block some.
Knows nothing of models.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence

from sbd_core.errors import ArgumentError
from sbd_core.training.data.examples import NO_LIMITS, ModelLimits, encoded_record
from sbd_core.training.data.sources import LeftOut, read_source
from sbd_core.training.synthesize import is_held_out

NO_TARGET = -100


@dataclass(frozen=True, slots=True)
class Text:
    """One example as token ids: a prompt with its template, then the answer to its end."""

    prompt_ids: tuple[int, ...]
    answer_ids: tuple[int, ...]

    @property
    def token_ids(self) -> tuple[int, ...]:
        """All token ids."""
        return self.prompt_ids + self.answer_ids


@dataclass(frozen=True, slots=True)
class BlockStates:
    """Blocks of one size over a batch of texts.

    texts (texts, n): token ids of each, any behind its end. start (texts, blocks): position of
    each block's first token. token_ids, targets (texts, blocks, size): what stands in the block
    (mask_id where masked), and the token wanted at a masked position, NO_TARGET elsewhere.
    before: the token before each position in the text.
    """

    texts: Tensor
    start: Tensor
    token_ids: Tensor
    targets: Tensor
    before: Tensor


def read_texts(
    files: Sequence[Path],
    tokenizer: Any,
    name: str,
    *,
    max_tokens: int,
    limits: ModelLimits = NO_LIMITS,
) -> tuple[list[Text], list[Text], list[str]]:
    """The answers in files: those to train on, those held out, and lines on what is left out.

    Of few examples, none of which is held out by its words, the first is. An answer that came to
    its end ends with the end token. Longer texts than max_tokens are cut at their end. Raises
    ArgumentError.
    """
    training: list[Text] = []
    held_out: list[Text] = []
    notes: list[str] = []
    for file in files:
        source = f"file:{file}"
        left_out = LeftOut(source)
        for record in read_source(source, left_out):
            pair = None
            if record.messages:
                pair = encoded_record(tokenizer, record, name, left_out, limits)
            room = max_tokens - len(pair[0]) if pair else 0
            if pair and room >= 4 and len(pair[1]) >= 2:
                text = Text(tuple(pair[0]), tuple(pair[1][:room]))
                (held_out if is_held_out(record.prompt) else training).append(text)
            elif pair:
                left_out.add(f"do not fit into {max_tokens} tokens (--max-tokens)", record.where)
            elif not record.messages:
                left_out.add("are no answer to a prompt", record.where)
        notes += left_out.notes()
    if not held_out and len(training) > 1:
        held_out.append(training.pop(0))
    if not training or not held_out:
        rule = "must hold examples to train on and to measure by"
        raise ArgumentError("data", "; ".join((rule, *notes)), [str(file) for file in files])
    return training, held_out, notes


def order_of(num_texts: int, seed: int) -> list[int]:
    """Indices of texts, shuffled."""
    generator = torch.Generator().manual_seed(seed * 1_000_003)
    return torch.randperm(num_texts, generator=generator).tolist()


def make_states(
    texts: Sequence[Text],
    block_size: int,
    num_blocks: int,
    mask_id: int,
    whole_ratio: float,
    generator: torch.Generator,
    num_columns: int = 0,
) -> BlockStates:
    """num_blocks blocks a text at random places of its answer; whole_ratio of them all masked.

    Of the others each position is masked with a probability drawn from U(0, 1) for the block, and
    at least one is. What stands behind the end of a text is masked and has no target. num_columns:
    of BlockStates.texts at least, so that its shape may always be one.
    """
    shape = (len(texts), num_blocks)
    ids = pad_sequence([torch.tensor(text.token_ids) for text in texts], batch_first=True)
    ids = pad(ids, (0, max(0, num_columns - ids.shape[1])))
    length = torch.tensor([[len(text.token_ids)] for text in texts])
    num_prompt = torch.tensor([[len(text.prompt_ids)] for text in texts])
    drawn = torch.rand(shape, generator=generator) * (length - num_prompt)
    start = (num_prompt + drawn.long()).clamp(max=length - 1)
    place = (start[..., None] + torch.arange(block_size)).flatten(1)
    is_inside = (place < length).view(*shape, block_size)
    last = place.clamp(max=length - 1)
    clean = ids.gather(1, last).view(is_inside.shape).where(is_inside, NO_TARGET)
    before = ids.gather(1, (place - 1).clamp(max=length - 1)).view(is_inside.shape)
    rate = torch.rand((*shape, 1), generator=generator)
    is_whole = torch.rand((*shape, 1), generator=generator) < whole_ratio
    chance = torch.rand(clean.shape, generator=generator)
    is_masked = is_whole | (chance < rate)
    # The least chance of the block is masked whatever the rate.
    least = chance.masked_fill(~is_inside, 2.0).argmin(-1, keepdim=True)
    is_masked = is_masked.scatter(-1, least, value=True)
    is_masked |= ~is_inside
    return BlockStates(
        ids,
        start,
        clean.masked_fill(is_masked, mask_id),
        clean.masked_fill(~is_masked, NO_TARGET),
        before,
    )
