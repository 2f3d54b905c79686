"""The batches of training: examples are drawn, copied with masks (Alg. 1) and packed.

A training sequence is the prompt and the answer of one example. Stage sbd appends x_hat, a copy of
the answer in which some tokens are masked (Alg. 1). In half of the steps the first block of x_hat
has the full size, as in decoding; in the other steps this block has a random size. A packed
sequence holds several training sequences and padding. The examples of a step depend only on the
recipe and the step; the masks depend also on the index of the training sequence in the step, but
not on the number of processes. This module knows no model.
"""

import os
import random
import signal
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import count, islice
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from sbd_core.errors import SetBlockDecodingError, TrainingError, one_line, shown
from sbd_core.masks import TrainingLayout
from sbd_core.models.chat import encode_plain, template_mark
from sbd_core.training.data import (
    NO_LIMITS,
    Mixture,
    ModelLimits,
    Pair,
    Skipped,
    Text,
    can_read,
    digest_of,
    encode_examples,
    encoded_text,
    has_own_template,
    in_epochs,
    mixed,
    read_source,
)
from sbd_core.training.recipe import Recipe

NO_TARGET = -1
Packed: TypeAlias = "tuple[array[int], array[int]]"
"""A Pair in arrays, which take a tenth of the memory of lists."""
ROWS_OF = 128
"""Packed sequences have a multiple of this many tokens, the size of FlexAttention's blocks."""
MOST_TRIED = 20
"""Greatest number of draws, of batch_size examples each, to fill one batch."""

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
TrainingSequence: TypeAlias = npt.NDArray[np.void]
"""One prompt and its answer as a forward pass reads them, (num_tokens,) of TOKEN."""
TOKEN = np.dtype(
    [
        ("token_ids", np.int64),
        ("position", np.int64),
        ("block", np.int64),
        ("copy", np.int64),
        ("targets", np.int64),
        ("weights", np.float32),
    ]
)
"""A token of a training sequence.

position, block: index of the token and of its block (TrainingLayout). copy: 1 in x_hat, else 0.
targets: token id to predict, NO_TARGET where nothing is predicted.
weights: weight of the prediction in the loss.
"""


@dataclass(frozen=True, slots=True)
class Batch:
    """Packed sequences of one length; every tensor is (packed sequences, row_tokens).

    targets, weights: see TOKEN. Padding has no target.
    ntp_weight: divisor of the weighted sum of all cross-entropies, masked tokens included; None
    takes the summed weights of the batch's next-token targets.
    """

    token_ids: Tensor
    layout: TrainingLayout
    targets: Tensor
    weights: Tensor
    ntp_weight: float | None = None

    def parts(self, count: int) -> list["Batch"]:
        """Split the batch into `count` batches of about equally many packed sequences."""
        layout = [getattr(self.layout, field.name) for field in fields(TrainingLayout)]
        tensors = [self.token_ids, self.targets, self.weights, *layout]
        split = [torch.tensor_split(tensor, count) for tensor in tensors]
        return [
            Batch(token_ids, TrainingLayout(*layout), targets, weights, self.ntp_weight)
            for token_ids, targets, weights, *layout in zip(*split, strict=True)
        ]


def clean_sequence(
    prompt: Sequence[int], answer: Sequence[int], prompt_weight: float
) -> TrainingSequence:
    """Make the sequence x of Alg. 1, without a masked copy: each token predicts the next one.

    prompt_weight: loss weight of each predicted prompt token; answer tokens have weight 1.
    """
    clean = np.zeros(len(prompt) + len(answer), TOKEN)
    clean["token_ids"] = [*prompt, *answer]
    clean["position"], clean["block"] = np.arange(len(clean)), -1
    clean["weights"] = 1
    clean["weights"][: len(prompt) - 1] = prompt_weight
    clean["targets"] = np.append(clean["token_ids"][1:], NO_TARGET)
    clean["targets"][clean["weights"] == 0] = NO_TARGET
    return clean


def noisy_sequence(
    clean: TrainingSequence,
    num_prompt: int,
    is_masked: Booleans,
    block_size: int,
    phase: int,
    mask_id: int,
) -> TrainingSequence:
    """Make the sequence [x ; x_hat] of Alg. 1, where x_hat is the answer with some tokens masked.

    num_prompt: number of prompt tokens in `clean`. is_masked: (num_answer,) bool.
    block_size, phase: see blocks_of(). mask_id: token id of <m>.
    The last block is filled up with mask tokens that have no target, as in decoding.
    """
    answer, num_answer = clean["token_ids"][num_prompt:], len(clean) - num_prompt
    block = blocks_of(num_answer, block_size, phase)
    copied = np.zeros(len(block), TOKEN)
    copied["token_ids"], copied["targets"] = mask_id, NO_TARGET
    copied["position"], copied["block"] = num_prompt + np.arange(len(block)), block
    copied["copy"] = copied["weights"] = 1
    copied["token_ids"][:num_answer] = np.where(is_masked, mask_id, answer)
    copied["targets"][:num_answer] = np.where(is_masked, answer, NO_TARGET)
    both = np.concatenate([clean, copied])
    both["block"][num_prompt : len(clean)] = block[:num_answer]
    return both


def blocks_of(num_answer: int, block_size: int, phase: int) -> Integers:
    """Number the blocks of x_hat: return the block index of each position.

    phase: number of positions by which the first block is shorter than block_size.
    """
    num_copied = -(-(num_answer + phase) // block_size) * block_size - phase
    return (np.arange(num_copied) + phase) // block_size


def draw_masks(num_answer: int, draws: torch.Generator, full_ratio: float = 0.0) -> Tensor:
    """Draw which answer tokens are masked, as in Alg. 1; return (num_answer,) bool.

    Each token is masked with probability eta, which is drawn from U(0, 1) once per call.
    full_ratio: probability that all tokens are masked instead.
    """
    eta = torch.rand((), generator=draws)
    if full_ratio and torch.rand((), generator=draws) < full_ratio:
        eta = torch.ones(())
    return torch.rand(num_answer, generator=draws) < eta


def pack(
    sequences: Sequence[TrainingSequence],
    row_tokens: int,
    pad_id: int,
    num_rows: int = 0,
) -> Batch:
    """Pack training sequences, by first-fit decreasing, into packed sequences of row_tokens tokens.

    sequences: none is longer than row_tokens. pad_id: token id of padding.
    num_rows: least number of packed sequences; if fewer are needed, the rest are all padding.
    """
    members = _shared_rows([len(sequence) for sequence in sequences], row_tokens)
    rows = np.zeros((max(len(members), num_rows), row_tokens), TOKEN)
    rows["token_ids"], rows["block"], rows["targets"] = pad_id, -1, NO_TARGET
    document = np.full(rows.shape, -1)
    for row, indices in enumerate(members):
        start = 0
        for index in indices:
            stop = start + len(sequences[index])
            rows[row, start:stop], document[row, start:stop] = sequences[index], index
            start = stop
    tensors: dict[str, Any] = {
        name: torch.from_numpy(np.ascontiguousarray(rows[name])) for name in TOKEN.names or ()
    }
    parts = {name: tensors.pop(name) for name in ("position", "block", "copy")}
    layout = TrainingLayout(document=torch.from_numpy(document), **parts)
    return Batch(layout=layout, **tensors)


def _shared_rows(lengths: Sequence[int], row_tokens: int) -> list[list[int]]:
    """Pack by first-fit decreasing; return the indices in `lengths` for each packed sequence."""
    free: list[int] = []
    members: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        size = lengths[index]
        row = next((row for row, left in enumerate(free) if left >= size), len(free))
        if row == len(free):
            free.append(row_tokens)
            members.append([])
        free[row] -= size
        members[row].append(index)
    return members


class BatchBuilder:
    """Builds the batch of any step of a recipe, or one process's share of the batch.

    notes: lines that say which texts of the recipe's sources are left out.
    digest: digest of the sources' encoded texts; None without sources.
    row_tokens: tokens per packed sequence, at most recipe.row_tokens. A recipe with short texts and
    no tasks gets fewer, because padding costs as much time as text.
    """

    def __init__(
        self,
        recipe: Recipe,
        tokenizer: Any,
        limits: ModelLimits = NO_LIMITS,
        *,
        process_index: int = 0,
        num_processes: int = 1,
        min_rows: int = 1,
    ) -> None:
        self._recipe, self._tokenizer, self._limits = recipe, tokenizer, limits
        self._process_index, self._num_processes = process_index, num_processes
        self._min_rows = min_rows
        # Most positions by which the last block of x_hat can exceed the answer.
        self._max_overhang = recipe.max_block_size - 1
        self.notes: list[str] = []
        self._sources = [self._pieces(source) for source in recipe.data]
        weights = [*recipe.tasks.values(), *(1.0 for _ in self._sources)]
        self._mixture = Mixture(recipe.seed, weights)
        every = [piece for source in self._sources for piece in source]
        self.digest = digest_of(every) if every else None
        self.row_tokens = recipe.row_tokens
        if not recipe.tasks:
            longest = max(self._needed(*piece) for piece in every)
            self.row_tokens = min(recipe.row_tokens, -(-longest // ROWS_OF) * ROWS_OF)

    def draw(self, step: int) -> list[Pair]:
        """Draw and encode the batch_size examples of a step, which are the same in both stages.

        Raises TrainingError if hardly any example fits into a packed sequence.
        """
        recipe = self._recipe
        from_sources = self._from_sources(step)
        wanted = recipe.batch_size - len(from_sources)
        drawn = mixed(recipe.seed * 1_000_003 + step, recipe.tasks)
        fitting: list[Pair] = []
        for _ in range(MOST_TRIED):
            if len(fitting) >= wanted:
                return from_sources + fitting[:wanted]
            pairs = encode_examples(self._tokenizer, list(islice(drawn, wanted)))
            fitting += [pair for pair in pairs if self._fits(pair)]
        names = ", ".join(recipe.tasks)
        raise TrainingError(
            f"row_tokens: hardly any example of {names} fits into {recipe.row_tokens} tokens"
        )

    def _from_sources(self, step: int) -> list[Pair]:
        """The texts of a step that come from sources; each text once before any comes again."""
        recipe, texts = self._recipe, list[Pair]()
        if not self._sources:
            return texts
        counts = (self._mixture.counts(n * recipe.batch_size) for n in (step, step + 1))
        first, stop = (each[len(recipe.tasks) :] for each in counts)
        for source, *places in zip(self._sources, first, stop, strict=True):
            pairs = (source[index] for index in in_epochs(recipe.seed, len(source), *places))
            texts += [(list(prompt), list(answer)) for prompt, answer in pairs]
        return texts

    def _pieces(self, source: str) -> list[Packed]:
        """Encode a source: the answers that fit into row_tokens, and the plain texts in pieces.

        Only the last piece of a plain text ends in <eos>. Raises ArgumentError if nothing is left.
        """
        pieces: list[Packed] = []
        skipped = Skipped(source)
        for text in read_source(source, skipped):
            if not text.messages:
                pieces += self._cut(text, skipped)
                continue
            pair = encoded_text(self._tokenizer, text, "init", skipped, self._limits)
            if pair and self._fits(pair):
                pieces.append((array("I", pair[0]), array("I", pair[1])))
            elif pair:
                size = f"a row of {self._recipe.row_tokens} tokens (--row-tokens)"
                skipped.add(f"do not fit with their masked copy into {size}", text.where)
        skipped.require(pieces)
        self.notes += skipped.notes()
        return pieces

    def _cut(self, text: Text, skipped: Skipped) -> list[Packed]:
        """Cut a plain text into pieces of about equal length, which each fit into row_tokens.

        The prompt of each piece is an empty user turn if the chat template is CHAT_TEMPLATE.
        Otherwise it is the tokenizer's start token or, without one, the first token of the piece.
        """
        mark = template_mark(self._tokenizer, text.answer)
        if mark is not None:
            reason = f"are chats as a template writes them, with {shown(mark)}: give their messages"
            skipped.add(reason, text.where)
            return []
        start = self._tokenizer.bos_token_id
        opening = [] if start is None else [start]
        if has_own_template(self._tokenizer):
            opening = self._tokenizer.convert_tokens_to_ids(["<user>", "<assistant>"])
        ids = [*encode_plain(self._tokenizer, text.answer), self._tokenizer.eos_token_id]
        if not can_read(self._tokenizer, ids, self._limits, text, skipped):
            return []
        longest = (self._recipe.row_tokens - max(1, len(opening)) - self._max_overhang) // 2
        longest = min(longest, (self._limits.max_tokens or longest) - len(opening))
        if longest < 1:
            return []
        num_first = 0 if opening else 1
        size = num_first + -(-len(ids) // -(-len(ids) // longest))
        pieces = [ids[start : start + size] for start in range(0, len(ids), size)]
        return [
            (array("I", [*opening, *piece[:num_first]]), array("I", piece[num_first:]))
            for piece in pieces
            if len(piece) > num_first
        ]

    def _needed(self, prompt: Sequence[int], answer: Sequence[int]) -> int:
        return len(prompt) + 2 * len(answer) + self._max_overhang

    def _fits(self, pair: Pair) -> bool:
        return self._needed(*pair) <= self._recipe.row_tokens

    def batch(self, step: int) -> Batch:
        """Build the batch of a step, or this process's share of the batch.

        Gradients are averaged over processes, so each process divides its loss by the mean NTP
        weight of all shares.
        """
        recipe = self._recipe
        pairs = self.draw(step)
        clean = [clean_sequence(prompt, answer, recipe.prompt_weight) for prompt, answer in pairs]
        weights = [float(each["weights"][each["targets"] != NO_TARGET].sum()) for each in clean]
        ntp_weight = sum(weights) / self._num_processes
        own = range(self._process_index, len(pairs), self._num_processes)
        sequences = [clean[index] for index in own]
        if recipe.stage == "sbd":
            nums_prompt = [len(pairs[index][0]) for index in own]
            sequences = list(self._with_masked_copies(step, own, sequences, nums_prompt))
        pad, end = self._tokenizer.pad_token_id, self._tokenizer.eos_token_id
        # Any id would do, as padding is neither attended to nor predicted.
        padding = int(end if pad is None else pad)
        packed = pack(sequences, self.row_tokens, padding, self._min_rows)
        return replace(packed, ntp_weight=ntp_weight)

    def _with_masked_copies(
        self, step: int, own: range, sequences: list[TrainingSequence], nums_prompt: list[int]
    ) -> Iterator[TrainingSequence]:
        """Append a masked copy to each sequence, with one block size for the whole step.

        own: each sequence's index in the step. This index seeds the masks.
        """
        recipe = self._recipe.at(step)
        draw = random.Random(recipe.seed * 1_000_003 + step)
        block_size = draw.randint(recipe.min_block_size, recipe.max_block_size)
        # Half the steps start blocks at the answer, as decoding does; the others anywhere.
        phase = draw.choice((0, draw.randrange(block_size)))
        # Each sequence has its own seed, whichever process it goes to.
        seed = draw.getrandbits(62)
        generator, mask_id = torch.Generator(), self._tokenizer.mask_token_id
        for index, sequence, num_prompt in zip(own, sequences, nums_prompt, strict=True):
            draws = generator.manual_seed(seed + index)
            num_answer = len(sequence) - num_prompt
            is_masked = draw_masks(num_answer, draws, recipe.full_mask_ratio).numpy()
            yield noisy_sequence(sequence, num_prompt, is_masked, block_size, phase, mask_id)


MOST_WORKERS = 14
AHEAD = 2
"""Number of batches that each worker prepares ahead."""


def chosen_workers(device: torch.device) -> int:
    """Number of worker processes for a device; 0 for a CPU, which training keeps busy itself."""
    return min(MOST_WORKERS, max(1, (os.cpu_count() or 1) - 1)) if device.type == "cuda" else 0


class _Steps(Dataset[Batch | SetBlockDecodingError]):
    def __init__(self, builder: BatchBuilder) -> None:
        self._builder = builder

    def __getitem__(self, step: int) -> Batch | SetBlockDecodingError:
        try:
            return self._builder.batch(step)
        except SetBlockDecodingError as error:
            # If raised here, it would reach the run as the text of a traceback.
            return error


def batches(builder: BatchBuilder, first: int, num_workers: int) -> Iterator[Batch]:
    """Yield the batch of step `first`, then the batches of all later steps, without end.

    num_workers: number of processes that build batches ahead; with 0, this process builds each
    batch when it is needed.
    Raises TrainingError if a worker dies, and the errors of BatchBuilder.batch().
    """
    if num_workers == 0:
        yield from map(builder.batch, count(first))
    ahead = iter(
        DataLoader(
            _Steps(builder),
            batch_size=None,
            sampler=count(first),
            num_workers=num_workers,
            prefetch_factor=AHEAD,
            worker_init_fn=_prepare_worker,
        )
    )
    while True:
        try:
            item = next(ahead)
        except RuntimeError as error:
            reason = f"a process that builds batches ended: {one_line(error)}"
            raise TrainingError(f"workers: {reason}") from error
        if isinstance(item, SetBlockDecodingError):
            raise item
        yield item


def _prepare_worker(worker: int) -> None:
    """Make a worker process ignore stop signals and tokenize in one thread.

    Ctrl-C reaches every process of a terminal, but the current step still needs its batch. More
    threads would compete with the other workers.
    """
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
