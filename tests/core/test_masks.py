"""Law 4: every mask form is the one the paper draws, and training sees what decoding sees."""

import pytest
import torch

from sbd_core.errors import ArgumentError
from sbd_core.masks import (
    TrainingLayout,
    decoding_mask,
    decoding_may_attend,
    dense,
    flex,
    training_mask,
    training_may_attend,
)

# Paper Figure 8 with 8 tokens in blocks of 4: rows are queries, columns keys, x then x_hat.
FIGURE_8 = """
10000000 00000000
11000000 00000000
11100000 00000000
11110000 00000000
11111000 00000000
11111100 00000000
11111110 00000000
11111111 00000000
00000000 11110000
00000000 11110000
00000000 11110000
00000000 11110000
11110000 00001111
11110000 00001111
11110000 00001111
11110000 00001111
"""

TRAINING_FORMS = [
    (num_tokens, block_size, first_noisy, phase)
    for num_tokens in (1, 7, 12)
    for block_size in (1, 2, 5, 16)
    for first_noisy in (0, 3, 6)
    for phase in (0, 1, 4)
    if first_noisy < num_tokens and phase < block_size
]
DECODING_FORMS = [
    (num_cached, num_causal, block_size)
    for num_cached in (0, 1, 5)
    for num_causal in (0, 1, 4)
    for block_size in (0, 1, 3)
    if num_causal + block_size
]


def drawn(picture: str) -> torch.Tensor:
    """The mask of a picture, a line for each query."""
    lines = picture.replace(" ", "").split()
    return torch.tensor([[cell == "1" for cell in line] for line in lines])


def test_training_mask_is_figure_8_cell_by_cell() -> None:
    assert torch.equal(training_mask(8, 4), drawn(FIGURE_8))


def slow_training_mask(num_tokens, block_size, first_noisy, phase) -> torch.Tensor:
    """The four rules of Sec. 3, one cell at a time; x_hat copies the tokens from first_noisy."""
    tokens = [("x", p) for p in range(num_tokens)]
    tokens += [("x_hat", p) for p in range(first_noisy, num_tokens)]
    blocks = {p: (p - first_noisy + phase) // block_size for p in range(first_noisy, num_tokens)}
    mask = torch.zeros(len(tokens), len(tokens), dtype=torch.bool)
    for i, (query_half, query) in enumerate(tokens):
        for j, (key_half, key) in enumerate(tokens):
            if query_half == "x":
                allowed = key_half == "x" and key <= query
            elif key_half == "x":
                allowed = key < first_noisy or blocks[key] < blocks[query]
            else:
                allowed = blocks[key] == blocks[query]
            mask[i, j] = allowed
    return mask


def layout(num_tokens, block_size, first_noisy=0, phase=0) -> TrainingLayout:
    """One row [x ; x_hat], x_hat the copy of x from first_noisy on, its first block shorter."""
    position = torch.tensor([*range(num_tokens), *range(first_noisy, num_tokens)])
    block = torch.div(position - first_noisy + phase, block_size, rounding_mode="floor")
    return TrainingLayout(
        document=torch.zeros_like(position)[None],
        position=position[None],
        block=torch.where(position < first_noisy, -1, block)[None],
        copy=(torch.arange(len(position)) // num_tokens)[None],
    )


def side_by_side(layouts: list[TrainingLayout], num_padding: int) -> TrainingLayout:
    """Several texts in one row, in the order given, then padding."""
    end = torch.full((1, num_padding), -1)

    def joined(name: str, last: torch.Tensor) -> torch.Tensor:
        return torch.cat([*(getattr(item, name) for item in layouts), last], dim=1)

    numbers = torch.cat([torch.full_like(t.document, n) for n, t in enumerate(layouts)], dim=1)
    return TrainingLayout(
        document=torch.cat([numbers, end], dim=1),
        position=joined("position", torch.zeros_like(end)),
        block=joined("block", end),
        copy=joined("copy", torch.zeros_like(end)),
    )


def test_texts_of_one_row_see_themselves_only_and_padding_sees_padding() -> None:
    parts = [layout(9, 4, 3, 1), layout(5, 2), layout(7, 16, 6)]
    row = side_by_side(parts, 4)
    size = row.document.shape[1]
    found = dense(training_may_attend(row), size, size)[0]
    expected = torch.zeros(size, size, dtype=torch.bool)
    start = 0
    for part in parts:
        length = part.document.shape[1]
        alone = dense(training_may_attend(part), length, length)[0]
        expected[start : start + length, start : start + length] = alone
        start += length
    assert torch.equal(found[:start], expected[:start])
    assert found[start:, start:].any(dim=1).all(), "a query that sees nothing becomes NaN"
    assert not found[start:, :start].any()


def test_rows_of_one_batch_have_masks_of_their_own() -> None:
    first, second = layout(8, 4, 2, 1), layout(8, 2, 2)
    fields = ("document", "position", "block", "copy")
    pair = {n: torch.cat([getattr(first, n), getattr(second, n)]) for n in fields}
    rule = training_may_attend(TrainingLayout(**pair))
    both = dense(rule, 14, 14, 2)
    for row, alone in enumerate((first, second)):
        expected = dense(training_may_attend(alone), 14, 14)[0]
        assert torch.equal(both[row], expected)
        block_mask = flex(rule, 14, 14, 2)
        assert torch.equal(of_block_mask(block_mask, 14, 14, row), expected)


@pytest.mark.parametrize(("num_tokens", "block_size", "first_noisy", "phase"), TRAINING_FORMS)
def test_training_predicate_is_the_four_rules(num_tokens, block_size, first_noisy, phase) -> None:
    rule = training_may_attend(layout(num_tokens, block_size, first_noisy, phase))
    size = 2 * num_tokens - first_noisy
    expected = slow_training_mask(num_tokens, block_size, first_noisy, phase)
    assert torch.equal(dense(rule, size, size)[0], expected)
    if first_noisy == phase == 0:
        assert torch.equal(training_mask(num_tokens, block_size), expected)


@pytest.mark.parametrize(("num_cached", "num_causal", "block_size"), DECODING_FORMS)
def test_decoding_mask_is_causal_then_a_block_that_sees_all(num_cached, num_causal, block_size):
    num_keys = num_cached + num_causal + block_size
    rows = []
    for query in range(num_causal + block_size):
        last_seen = num_keys - 1 if query >= num_causal else num_cached + query
        rows.append([key <= last_seen for key in range(num_keys)])
    assert torch.equal(decoding_mask(num_cached, num_causal, block_size), torch.tensor(rows))


# 2 cached tokens, 4 causal ones, a block of 2 behind them, one of 2 behind the first, one of 1
# behind three: rows are queries, columns the cached keys, then the queries' own.
PREDRAFTS = """
11 1000 00 00 0
11 1100 00 00 0
11 1110 00 00 0
11 1111 00 00 0
11 1111 11 00 0
11 1111 11 00 0
11 1000 00 11 0
11 1000 00 11 0
11 1110 00 00 1
"""


def test_a_predraft_sees_its_prefix_and_itself_cell_by_cell() -> None:
    assert torch.equal(decoding_mask(2, 4, 2, [(1, 2), (3, 1)]), drawn(PREDRAFTS))


# A block of 3 behind the first of 2 causal tokens, whose first row is read causally itself.
ALTERNATIVE = """
11 10 000
11 11 000
11 10 100
11 10 111
11 10 111
"""


def test_an_alternative_sees_its_prefix_and_itself_and_its_masks_see_it() -> None:
    assert torch.equal(decoding_mask(2, 2, 0, [(1, 3, 1)]), drawn(ALTERNATIVE))


def of_block_mask(block_mask, num_queries, num_keys, row=0) -> torch.Tensor:
    """A BlockMask asked cell by cell: its blocks AND its predicate."""
    query, key = torch.arange(num_queries)[:, None], torch.arange(num_keys)[None, :]
    head = torch.zeros((), dtype=torch.long)
    height, width = block_mask.BLOCK_SIZE
    blocks = block_mask.to_dense()[row, 0].bool()[query // height, key // width]
    return blocks & block_mask.mask_mod(torch.tensor(row), head, query, key)


@pytest.mark.parametrize(
    ("rule", "num_queries", "num_keys"),
    [
        (training_may_attend(layout(8, 4)), 16, 16),
        (training_may_attend(layout(150, 16)), 300, 300),
        (training_may_attend(layout(170, 7, first_noisy=60, phase=3)), 280, 280),
        (decoding_may_attend(5, 4, [(4, 4)]), 8, 13),
        (decoding_may_attend(300, 16, [(16, 16)]), 32, 332),
        (decoding_may_attend(0, 9, []), 9, 9),
        (decoding_may_attend(7, 6, [(6, 4), (2, 3), (0, 5)]), 18, 25),
    ],
)
def test_flex_mask_is_the_dense_mask(rule, num_queries, num_keys) -> None:
    expected = dense(rule, num_queries, num_keys)[0]
    block_mask = flex(rule, num_queries, num_keys)
    assert torch.equal(of_block_mask(block_mask, num_queries, num_keys), expected)


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("num_tokens", lambda: training_mask(0, 4)),
        ("block_size", lambda: training_mask(8, 0)),
        ("block_size", lambda: training_mask(8, True)),
        ("num_tokens", lambda: training_mask(8.0, 4)),
        ("num_cached", lambda: decoding_mask(-1, 1, 1)),
        ("num_causal", lambda: decoding_mask(0, -1, 1)),
        ("block_size", lambda: decoding_mask(3, 0, 0)),
        ("block_size", lambda: decoding_mask(3, 1, -1)),
        ("predrafts", lambda: decoding_mask(3, 4, 2, [(5, 1)])),
        ("predrafts", lambda: decoding_mask(3, 4, 2, [(-1, 1)])),
        ("predrafts", lambda: decoding_mask(3, 4, 2, [(2, 0)])),
        ("predrafts", lambda: decoding_mask(3, 4, 2, [(2, 1, 2)])),
    ],
)
def test_an_impossible_size_is_named(argument, call) -> None:
    with pytest.raises(ArgumentError, match=f"^{argument}: "):
        call()
