"""Infill: blanks follow from the line or a closed list, the rest stays, test lines are unseen."""

import ast
import contextlib
import io
import json
import re
from itertools import islice, pairwise
from random import Random

import pytest

from sbd_core.tasks import Example, examples, words
from sbd_core.tasks.base import is_reserved, split_of
from sbd_core.tasks.infill import asking, slots
from sbd_core.tasks.infill import task as infill
from sbd_core.tasks.infill.code import CODE
from sbd_core.tasks.infill.grammar import GRAMMAR, PLURALS, VERBS
from sbd_core.tasks.infill.knowledge import TOPICS
from sbd_core.tasks.infill.numbers import NUMBERS
from sbd_core.tasks.infill.patterns import BLANK, MARK, ORDINARY
from sbd_core.tasks.infill.records import RECORDS
from sbd_core.tasks.infill.told import TOLD

TABLES = (TOLD, GRAMMAR, NUMBERS, CODE, RECORDS, *(tables for tables, _ in TOPICS))
PATTERNS = [line for table in TABLES for pool in table for line in pool.seen + pool.reserved]


def drawn(seed: int, split: str, count: int) -> list[Example]:
    return list(islice(examples(seed, split, ["infill"]), count))


@pytest.fixture(scope="module")
def train() -> list[Example]:
    return drawn(1, "train", 30000)


@pytest.fixture(scope="module")
def test() -> list[Example]:
    return drawn(2, "test", 3000)


def asked(line: str, fills: list[list[str]]) -> Example:
    return Example("infill", "", "", json.dumps({"line": line, "fills": fills}))


def test_the_answer_is_the_line_with_its_first_fills_and_passes(train, test) -> None:
    for example in train[:3000] + test:
        case = json.loads(example.case)
        assert 1 <= case["line"].count(BLANK) == len(case["fills"]) <= 3
        filled = case["line"]
        for fill in case["fills"]:
            filled = filled.replace(BLANK, fill[0], 1)
        assert example.answer == filled
        assert infill.check(example, example.answer)


def test_the_prompt_holds_the_line_with_blanks_of_one_look(train) -> None:
    looks = set()
    for example in train[:3000]:
        line = json.loads(example.case)["line"]
        marks = (BLANK, *asking.OTHER_MARKS)
        looks.add(next(m for m in marks if line.replace(BLANK, m) in example.prompt))
    assert looks == {BLANK, *asking.OTHER_MARKS}


def test_a_prompt_has_one_answer_and_a_line_one_split(train, test) -> None:
    answers: dict[str, str] = {}
    for example in train + test:
        assert answers.setdefault(example.prompt, example.answer) == example.answer, example
    assert not {e.answer for e in train} & {e.answer for e in test}
    assert not {e.prompt for e in train} & {e.prompt for e in test}


def test_spoiled_answers_fail(test) -> None:
    for example in test[:500]:
        line, answer = json.loads(example.case)["line"], example.answer
        for text in (line, answer[:-1], answer + ".", "", answer.replace(" ", "  ", 1) + " "):
            assert not infill.check(example, text)
        assert not infill.check(example, line.replace(BLANK, "wrong"))


def test_every_allowed_filler_passes_and_the_rest_must_stay() -> None:
    example = asked("Tom (a boy) is ___ than ___.", [["shorter", "smaller"], ["Mia"]])
    assert infill.check(example, "Tom (a boy) is shorter than Mia.")
    assert infill.check(example, "Tom (a boy) is smaller than Mia.")
    for text in (
        "Tom (a boy) is taller than Mia.",
        "Tom (a boy) is shorter than Tom.",
        "Tim (a boy) is shorter than Mia.",
        "Tom a boy is shorter than Mia.",
        "Tom (a boy) is shorter than MiaX",
        "Tom (a boy) is shorter than Mia.\n",
        "\ud800",
    ):
        assert not infill.check(example, text), text


SUMS = (
    r"(?<![\d+*/-] )\b(\d+) ?([-+*/x:]) ?(\d+) ?= ?(\d+)\b(?! [-+*/])",
    r"^(\d+) (plus|minus|times|divided by) (\d+) is (\d+)\.$",
    r"print\((\d+) ([-+*]|//) (\d+)\)  # (\d+)",
)
SIGNS = {
    "x": "*", ":": "//", "/": "//", "plus": "+", "minus": "-", "times": "*", "divided by": "//",
}  # fmt: skip


def test_sums_in_filled_lines_are_right(train) -> None:
    for pattern in SUMS:
        num_sums = 0
        for example in train:
            for left, sign, right, result in re.findall(pattern, example.answer):
                num_sums += 1
                value = eval(f"{left} {SIGNS.get(sign, sign)} {right}")
                assert value == int(result), example
        assert num_sums > 20, pattern


def test_rows_keep_their_step(train) -> None:
    num_rows = 0
    for example in train:
        numbers = re.fullmatch(r"\d+((, | - | -> | )\d+){4,}", example.answer)
        if example.kind != "rows" or not numbers:
            continue
        row = [int(item) for item in re.findall(r"\d+", example.answer)]
        steps = {right - left for left, right in pairwise(row)}
        doubles = all(right == 2 * left for left, right in pairwise(row))
        turns = len(set(row)) <= 3 and (row[::2] == row[:1] * len(row[::2]) or row[3:] == row[:-3])
        assert len(steps) == 1 or doubles or turns, example
        num_rows += 1
    assert num_rows > 500


def test_filled_code_is_python_and_says_what_it_prints(train) -> None:
    outputs = 0
    for code in {e.answer for e in train if e.kind == "code"}:
        ast.parse("def f():\n" + "\n".join("    " + line for line in code.split("\n")))
        if "print(" not in code or "#" not in code or re.search(r"text|assert|# [a-z]+$", code):
            continue
        said = code.rsplit("# ", 1)[1]
        shown = io.StringIO()
        try:
            with contextlib.redirect_stdout(shown):
                exec(code, {})
        except NameError:
            continue
        outputs += 1
        assert shown.getvalue().split("\n")[-2] == said, code
    assert outputs > 200


def test_filled_records_are_json(train) -> None:
    found = {e.answer for e in train if e.kind == "records"}
    for line in found:
        _, sentence, record = re.match(r"(([^\[{].*?[.:]) )?([\[{].*)$", line).groups()
        value = json.loads(record)
        if sentence and isinstance(value, dict):
            values = [item for v in value.values() for item in (v if isinstance(v, list) else [v])]
            assert all(str(item) in sentence for item in values), line
        if isinstance(value, dict) and "sum" in value and "a" in value:
            assert value["sum"] == value["a"] + value["b"]
    assert len(found) > 1000


def test_a_blank_outside_closed_lists_can_be_read_off_the_line(train) -> None:
    """Names, things and colors asked for in told lines stand elsewhere in the line."""
    read_off = 0
    for example in train:
        if example.kind != "told":
            continue
        case = json.loads(example.case)
        for fill in case["fills"]:
            if fill[0][0].isupper() or fill[0] in words.COLORS or fill[0].isdigit():
                assert re.search(rf"\b{re.escape(fill[0])}\b", case["line"]), example
                read_off += 1
    assert read_off > 5000


def test_every_known_fact_is_trained_on_in_several_lines() -> None:
    random = Random(0)
    known = {infill.filled(infill._line(random, "seen", "knowledge")) for _ in range(20000)}
    trained = [(line, line.lower()) for line in known if split_of(line) == "train"]
    for tables, pairs in TOPICS:
        assert sum(len(pool.seen) for pool in tables) >= 2
        assert len(dict(pairs)) == len(pairs)
        for left, right in pairs:
            sides = [side.split("|")[0] for side in (left, right)]
            w, v = map(re.escape, sides)
            told = re.compile(rf"(?i)\b{w}\b.*\b{v}\b|\b{v}\b.*\b{w}\b")
            a, b = (side.lower() for side in sides)
            lines = [line for line, low in trained if a in low and b in low and told.search(line)]
            assert len(lines) >= 4, (left, right, lines)


def test_what_is_reserved_for_test_is_never_trained_on(train, test) -> None:
    assert not is_reserved(ORDINARY)
    assert {e.wording for e in train} == {"seen"}
    unseen = [e for e in test if e.wording == "unseen"]
    assert 0.4 < len(unseen) / len(test) < 0.6
    forms = [*asking.BEFORE.reserved, *asking.AFTER.reserved]
    names = "|".join(sorted({name for names in asking.NAMES.values() for name in names}))
    pattern = "|".join(re.escape(form).replace(r"\{it\}", f"({names})") for form in forms)
    form = re.compile(r"(?m)(^|[ \n])(" + pattern.replace(r"\{blank\}", "blanks?") + ")")
    assert all(form.search(e.prompt) for e in unseen)
    asks = {e.prompt.replace(json.loads(e.case)["line"], "").strip() for e in train}
    assert not any(re.fullmatch(form, ask) for ask in asks)

    pools = (words.NAME_POOL, slots.CITIES, slots.OBJECTS, slots.ANIMAL_NAMES)
    names_kept = {name for pool in pools for name in pool.reserved} - {*words.MONTHS, "table"}
    trained = {w for e in train if e.kind == "told" for w in re.findall(r"\w+", e.answer)}
    assert not names_kept & trained
    assert names_kept & {w for e in unseen for w in re.findall(r"\w+", e.answer)}


def test_composed_requests_are_many_and_hold_none_that_is_kept_for_test() -> None:
    random = Random(0)
    drawn = {asking.COMPOSED.draw(random) for _ in range(3000)}
    assert len(drawn) > 2000
    kept = [form[:-1] for form in asking.BEFORE.reserved + asking.AFTER.reserved]
    assert not drawn & set(kept)
    wide = [form.lower() for form in kept if " " in form]
    assert len(wide) >= 10
    assert not any(f" {form}" in f" {text.lower()}" for form in wide for text in drawn)
    assert all(asking.COMPOSED.is_held_out(f"Please {form} and stop") for form in wide)
    filled = {text.format(it="sum", blank="blanks", s="s") for text in drawn}
    assert not any(set("{}<>") & set(text) for text in filled)


@pytest.mark.parametrize("table", TABLES)
def test_patterns_kept_for_test_are_told_in_train_in_other_words(table) -> None:
    for pool in table:
        assert pool.seen
        assert len(set(pool.seen + pool.reserved)) == len(pool.seen) + len(pool.reserved)


def test_a_pattern_kept_for_test_makes_no_line_of_training(train) -> None:
    random = Random(0)
    kept = [(t, line) for t in TABLES for pool in t for line in pool.reserved]
    assert len(kept) >= 45
    trained = {e.answer for e in train}
    fills = slots.code_slots(random, "seen") | slots.slots(random, "seen")
    pairs = {"w": "hot", "v": "cold", "all_w": "hot", "all_v": "cold"}
    for table, line in kept:
        values = fills | (slots.code_slots(random, "seen") if table is CODE else {})
        filled = infill.filled(line.format(**values | (pairs if table in TABLES[5:] else {})))
        assert filled not in trained


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_has_blanks_and_a_group_is_told_by_another_word(pattern: str) -> None:
    marks = MARK.findall(pattern)
    assert marks
    assert pattern.count("«") == pattern.count("»") == len(marks)
    for group in {group for group, _ in marks if group}:
        assert sum(found == group for found, _ in marks) > 1


def test_the_lines_are_of_many_kinds(train) -> None:
    assert len({e.answer for e in train[:3000]}) > 2300
    assert {e.kind for e in train} == set(infill.KIND_WEIGHTS)
    assert len(PATTERNS) >= 500
    assert sum(len(pairs) for _, pairs in TOPICS) >= 350
    assert len(asking.BEFORE.seen) + len(asking.AFTER.seen) >= 50
    assert len(PLURALS) >= 30
    assert all(len(forms) == 4 for forms in VERBS)
    assert len(VERBS) >= 40
