"""One training step of a block adapter: its batch, the base model with the adapter, and the loss.

A batch (BlockBatch) holds texts, and partly masked blocks of these texts. A first forward pass
reads the clean texts with the base model alone, without gradients. A second forward pass reads all
blocks with the base model and the adapter: each block attends to itself and to the keys and values
of the clean text before the block.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.functional import linear, pad
from torch.nn.utils.rnn import pad_sequence
from transformers import DynamicCache

from sbd_core.models.backends.transformers import ALL_ROWS, GatedLinears
from sbd_core.models.block_adapter import LINEARS, BlockAdapter, BlockAdapterInfo
from sbd_core.models.sampler_head import sampler_change
from sbd_core.training.batches import NO_TARGET
from sbd_core.training.data import Pair

NUM_MEASURED = 96
LEAD_SIZE = 16


@dataclass(frozen=True, slots=True)
class BlockBatch:
    """A batch of texts, and partly masked blocks of one size in these texts.

    texts (texts, n): token ids of each text, followed by padding.
    start (texts, blocks): position of each block's first token, counted from the start of the text.
    token_ids (texts, blocks, size): token ids of each block, with mask_id at masked positions.
    targets (texts, blocks, size): true token id at masked positions of the text, else NO_TARGET.
    before (texts, blocks, size): id of the true token that precedes each position.
    """

    texts: Tensor
    start: Tensor
    token_ids: Tensor
    targets: Tensor
    before: Tensor


def make_batch(
    texts: Sequence[Pair],
    block_size: int,
    num_blocks: int,
    mask_id: int,
    whole_ratio: float,
    generator: torch.Generator,
    num_columns: int = 0,
) -> BlockBatch:
    """Place num_blocks blocks at random in the answer of each text, and mask some of their tokens.

    whole_ratio: probability that a block is masked entirely. Any other block draws a rate from U(0,
    1), masks each position with this probability, and masks at least one.
    num_columns: least width of BlockBatch.texts, which keeps shapes the same from step to step.
    Positions beyond the end of a text are masked and have no target.
    """
    shape = (len(texts), num_blocks)
    whole = [torch.tensor([*prompt, *answer]) for prompt, answer in texts]
    ids = pad_sequence(whole, batch_first=True)
    ids = pad(ids, (0, max(0, num_columns - ids.shape[1])))
    length = torch.tensor([[len(text)] for text in whole])
    num_prompt = torch.tensor([[len(prompt)] for prompt, _ in texts])
    drawn = torch.rand(shape, generator=generator) * (length - num_prompt)
    start = (num_prompt + drawn.long()).clamp(max=length - 1)
    position = (start[..., None] + torch.arange(block_size)).flatten(1)
    is_inside = (position < length).view(*shape, block_size)
    last = position.clamp(max=length - 1)
    clean = ids.gather(1, last).view(is_inside.shape).where(is_inside, NO_TARGET)
    before = ids.gather(1, (position - 1).clamp(max=length - 1)).view(is_inside.shape)
    rate = torch.rand((*shape, 1), generator=generator)
    is_whole = torch.rand((*shape, 1), generator=generator) < whole_ratio
    chance = torch.rand(clean.shape, generator=generator)
    is_masked = is_whole | (chance < rate)
    # The position with the least chance in its block is masked whatever the rate.
    least = chance.masked_fill(~is_inside, 2.0).argmin(-1, keepdim=True)
    is_masked = is_masked.scatter(-1, least, value=True)
    is_masked |= ~is_inside
    return BlockBatch(
        ids,
        start,
        clean.masked_fill(is_masked, mask_id),
        clean.masked_fill(~is_masked, NO_TARGET),
        before,
    )


@dataclass(frozen=True, slots=True)
class StepLoss:
    """Loss of one training step.

    total: loss to minimise. num_masked: number of masked tokens in the step.
    plain, with_before: mean cross-entropy per masked token in nats, without and with the sampler
    head. They are equal if there is no sampler head.
    """

    total: Tensor
    plain: Tensor
    with_before: Tensor
    num_masked: int


class GatedBase:
    """A frozen base model with a trainable block adapter, which acts on blocks only.

    Hooks, which are never removed, add the adapter's B A x to the outputs of the linear layers.
    adapter: the block adapter, in fp32, with gradients.
    """

    def __init__(
        self,
        model: Any,
        info: BlockAdapterInfo,
        sampler_width: int,
        generator: torch.Generator,
        *,
        is_compiled: bool = False,
    ) -> None:
        """sampler_width: 0 omits the sampler head. is_compiled: True uses torch.compile."""
        self._embedding = model.get_input_embeddings().weight.detach()
        self._head = model.get_output_embeddings().weight.detach()
        self._mask_id = info.mask_token_id
        device, hidden = self._embedding.device, self._embedding.shape[1]

        def drawn(rows: int, columns: int) -> Tensor:
            values = torch.randn(rows, columns, generator=generator) / math.sqrt(columns)
            return values.to(device)

        layers = []
        for layer in model.base_model.layers:
            modules = {name: layer.get_submodule(path) for name, path in LINEARS.items()}
            pairs = {
                name: (
                    drawn(info.rank, module.in_features),
                    torch.zeros(module.out_features, info.rank, device=device),
                )
                for name, module in modules.items()
            }
            layers.append(pairs)
        self._gate = GatedLinears(model, layers)
        mask = self._embedding[: self._mask_id].float().mean(0)
        sampler = None
        if sampler_width:
            into = drawn(2 * sampler_width, 2 * hidden)
            sampler = into, torch.zeros(hidden, sampler_width, device=device)
        self.adapter = BlockAdapter(info, tuple(layers), mask, sampler)
        for tensor in self.adapter.tensors().values():
            tensor.requires_grad_()
        self._run, self._is_compiled = model.base_model.forward, is_compiled
        self._run_compiled, self._nats = self._run, nats_of
        if is_compiled:
            self._run_compiled = torch.compile(self._run, dynamic=False)
            self._nats = torch.compile(nats_of, dynamic=True)

    @torch.no_grad()
    def set(self, values: Mapping[str, Tensor]) -> None:
        """Set the adapter's tensors. values: tensors under the names of BlockAdapter.tensors()."""
        for name, tensor in self.adapter.tensors().items():
            tensor.copy_(values[name])

    def hidden(self, states: BlockBatch) -> Tensor:
        """Hidden states of all blocks after the last norm, (texts, blocks, size, hidden)."""
        device = self._embedding.device
        texts = states.texts.to(device, non_blocking=True)
        run = self._run_compiled if torch.is_grad_enabled() else self._run
        # Keys and values of the clean texts. No block attends to padding behind a shorter one.
        cache = DynamicCache()
        with torch.no_grad():
            run(input_ids=texts, past_key_values=cache, use_cache=True)
        num_texts, num_blocks, size = states.token_ids.shape
        start = states.start.to(device, non_blocking=True).repeat_interleave(size, 1)
        own = torch.arange(num_blocks * size, device=device)
        ids = states.token_ids.to(device, non_blocking=True).flatten(1)
        known = self._embedding[ids.clamp(max=self._embedding.shape[0] - 1)].float()
        is_mask = (ids == self._mask_id)[..., None]
        # Mask (texts, 1, rows, clean keys and the rows' own): a row attends to the text before its
        # block, and to the block.
        is_before = torch.arange(texts.shape[1], device=device) < start[..., None]
        is_own = (own // size == (own // size)[:, None]).expand(num_texts, -1, -1)
        is_low = self._embedding.dtype != torch.float32
        with (
            self._gate.rows(ALL_ROWS),
            torch.autocast(device.type, torch.bfloat16, enabled=is_low),
        ):
            hidden: Tensor = run(
                inputs_embeds=torch.where(is_mask, self.adapter.mask_embedding, known),
                attention_mask=torch.cat([is_before, is_own], -1)[:, None],
                position_ids=start + own % size,
                past_key_values=cache,
                use_cache=True,
            ).last_hidden_state
        return hidden.to(self._embedding.dtype).view(num_texts, num_blocks, size, -1)

    def logits(self, hidden: Tensor) -> Tensor:
        """Compute fp32 logits (positions, vocab) from hidden states (positions, hidden)."""
        return linear(hidden, self._head).float()

    def apply_sampler(self, hidden: Tensor, before: Tensor) -> Tensor:
        """Apply the sampler head to hidden states (positions, hidden); return the new ones.

        before: (positions,) id of the token before each position.
        """
        assert self.adapter.sampler is not None
        into, out = (part.to(hidden.dtype) for part in self.adapter.sampler)
        known = self._embedding[before].to(hidden.dtype)
        return hidden + sampler_change(hidden, known, into, out)

    def loss(self, states: BlockBatch, weight_of_first: float, decay: float) -> StepLoss:
        """Compute the cross-entropy of the masked tokens; each position predicts its own token.

        StepLoss.total is a weighted mean over masked tokens. If there is a sampler head, this mean
        is computed without and with the sampler head, and the two results are averaged.
        A token's weight is decay ** (number of masked positions before the token in the block).
        At the first position of a block, this weight is multiplied by weight_of_first.
        """
        is_target = states.targets != NO_TARGET
        rank = (is_target.cumsum(-1) - 1).clamp(min=0)
        weight = decay ** rank.float() * is_target
        weight[..., 0] *= weight_of_first
        weight = weight.flatten() / weight.sum()
        rows = is_target.flatten().nonzero()[:, 0]
        parts = (rows, weight[rows], states.targets.flatten()[rows], states.before.flatten()[rows])
        rows, weight, targets, before = (
            part.to(self._embedding.device, non_blocking=True) for part in parts
        )
        hidden = self.hidden(states).flatten(0, 2)[rows]
        nats = self._nats(self._head, hidden, targets)
        total, with_before = (nats * weight).sum(), nats
        if self.adapter.sampler is not None:
            with_before = self._nats(self._head, self.apply_sampler(hidden, before), targets)
            total = (total + (with_before * weight).sum()) / 2
        plain, with_before = (each.detach().mean() for each in (nats, with_before))
        return StepLoss(total, plain, with_before, len(targets))


def nats_of(head: Tensor, hidden: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy of each target in nats, (n,). head: output layer's weight (vocab, hidden)."""
    return functional.cross_entropy(linear(hidden, head).float(), targets, reduction="none")


@torch.no_grad()
def measure(base: GatedBase, held_out: Sequence[Pair]) -> dict[str, float]:
    """Measure an adapter on wholly masked blocks of held-out texts; return means by name.

    Only texts whose answers have at least LEAD_SIZE tokens are read, if there are any.
    nats, nats_with_before: cross-entropy per masked token, without and with the sampler head.
    lead: number of right guesses before the first wrong guess in a block, without the sampler head.
    drafted: number of right guesses from a block's second position to the next wrong guess, with
    the sampler head, which reads the true token before each position.
    """
    generator = torch.Generator().manual_seed(1)
    nats, guesses, num_masked, num_blocks = [0.0, 0.0], [0, 0], 0, 0
    long_enough = [text for text in held_out if len(text[1]) >= LEAD_SIZE]
    texts = (long_enough or held_out)[:NUM_MEASURED]
    mask_id = base.adapter.info.mask_token_id
    for first in range(0, len(texts), 4):
        states = make_batch(texts[first : first + 4], LEAD_SIZE, 8, mask_id, 1.0, generator)
        hidden = base.hidden(states)
        is_target = states.targets != NO_TARGET
        # Behind the end of a text there is no target, and any guess counts as wrong.
        rows = is_target.flatten().nonzero()[:, 0]
        wanted = states.targets.flatten()[rows]
        before = states.before.flatten()[rows].to(hidden.device)
        hidden = hidden.flatten(0, 2)[rows.to(hidden.device)]
        moved = hidden if base.adapter.sampler is None else base.apply_sampler(hidden, before)
        is_right = []
        for index, each in enumerate((hidden, moved)):
            logits = base.logits(each).cpu()
            nats[index] += float(functional.cross_entropy(logits, wanted, reduction="sum"))
            right = torch.zeros(is_target.numel(), dtype=torch.long)
            right[rows] = (logits.argmax(-1) == wanted).long()
            is_right.append(right.view(is_target.shape))
        plain, by_before = is_right
        num_masked += len(rows)
        num_blocks += plain.shape[0] * plain.shape[1]
        # The true token before is what decoding has, as long as all earlier guesses are right.
        for index, run in enumerate((plain, by_before[..., 1:])):
            guesses[index] += int(run.cumprod(-1).sum())
    names = ("nats", "nats_with_before", "lead", "drafted")
    means = *(each / num_masked for each in nats), *(each / num_blocks for each in guesses)
    return dict(zip(names, means, strict=True))
