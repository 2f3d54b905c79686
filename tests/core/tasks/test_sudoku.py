"""Sudoku: one solution each, solved rightly, split by solution grid, one token a digit."""

from itertools import islice, product
from random import Random

from sbd_core.tasks import Example, examples, sudoku
from sbd_core.training.data import encode_plain_texts
from sbd_core.training.new_model import EOS_ID, train_tokenizer

CELLS = range(16)


def drawn(seed: int, split: str, count: int) -> list[Example]:
    return list(islice(examples(seed, split, ["sudoku"]), count))


def is_solved(grid: str) -> bool:
    """Independent of the module: coordinates instead of units."""
    lines = [[grid[4 * y + x] for x in range(4)] for y in range(4)]
    boxes = [
        [lines[2 * y + dy][2 * x + dx] for dy in (0, 1) for dx in (0, 1)]
        for y in (0, 1)
        for x in (0, 1)
    ]
    return all(sorted(unit) == list("1234") for unit in [*lines, *zip(*lines, strict=True), *boxes])


def brute_force(puzzle: str) -> list[str]:
    """Every way to fill the blanks, tried out."""
    fillings = product("1234", repeat=puzzle.count("0"))
    filled = (puzzle.replace("0", "%s") % filling for filling in fillings)
    return [grid for grid in filled if is_solved(grid)]


def test_there_are_288_grids_and_about_a_fifth_is_kept_for_the_test() -> None:
    assert len(set(sudoku.grids())) == 288
    assert all(is_solved(grid) for grid in sudoku.grids())
    answers = {split: {e.answer for e in drawn(1, split, 9000)} for split in ("train", "test")}
    assert not answers["train"] & answers["test"]
    assert len(answers["train"] | answers["test"]) == 288
    assert 45 <= len(answers["test"]) <= 70


def test_a_puzzle_has_one_solution_which_is_the_answer() -> None:
    for example in drawn(2, "train", 500) + drawn(2, "test", 500):
        assert sudoku.solutions(example.case) == (example.answer,)
        assert 4 <= example.case.count("0") <= 10
        assert example.case in example.prompt


def test_the_solver_agrees_with_brute_force() -> None:
    random = Random(3)
    counts = set()
    for _ in range(16):
        grid = list(random.choice(sudoku.grids()))
        for cell in random.sample(CELLS, 7):
            grid[cell] = "0"
        if random.random() < 0.3:
            grid[random.choice(CELLS)] = random.choice("1234")
        puzzle = "".join(grid)
        expected = brute_force(puzzle)
        counts.add(min(len(expected), 2))
        assert sudoku.solutions(puzzle) == tuple(expected[:2])
    assert counts == {0, 1, 2}


def test_the_answer_passes_and_any_changed_digit_fails() -> None:
    for example in drawn(4, "test", 100):
        assert sudoku.check(example, example.answer)
        for cell in CELLS:
            for digit in {*"01234x"} - {example.answer[cell]}:
                spoiled = example.answer[:cell] + digit + example.answer[cell + 1 :]
                assert not sudoku.check(example, spoiled)
        for text in ("", example.answer[:-1], example.answer + "1", "\ud800", "\x00" * 9999):
            assert not sudoku.check(example, text)


def test_the_answer_is_one_block_of_16_tokens_and_the_puzzle_one_token_a_cell() -> None:
    found = drawn(6, "train", 300)
    tokenizer = train_tokenizer((f"{e.prompt}\n{e.answer}" for e in found), 512)
    digits = [tokenizer.convert_tokens_to_ids(digit) for digit in "01234"]
    for example in found:
        answer = encode_plain_texts(tokenizer, [example.answer])[0]
        assert answer == [digits[int(digit)] for digit in example.answer]
        prompt = encode_plain_texts(tokenizer, [example.prompt])[0]
        puzzle = [digits[int(cell)] for cell in example.case]
        assert puzzle in [prompt[start : start + 16] for start in range(len(prompt))]
    assert EOS_ID not in digits
