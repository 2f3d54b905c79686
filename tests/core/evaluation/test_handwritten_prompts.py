"""The handwritten prompts: enough of each task, held by the checker, refused when malformed."""

import json
from collections import Counter
from itertools import islice

import pytest

from sbd_core.errors import ArgumentError
from sbd_core.evaluation.tables import handwritten_prompts
from sbd_core.tasks import SUITES, TASKS, examples
from sbd_core.tasks.sudoku import solutions

RIGHT = {
    "math": lambda case: f"The answer is {case}.",
    "json": lambda case: case,
    # A function that looks its answers up is right by the cases alone.
    "code": lambda case: (
        f"def solve(*given):\n    inputs, results = {case}\n"
        "    value = given[0] if len(given) == 1 else given\n"
        "    return results[inputs.index(value)]"
    ),
    "sudoku": lambda case: solutions(case)[0],
    "infill": lambda case: filled(**json.loads(case)),
    "story": lambda case: (
        STORIES[json.loads(case)["person"][0]] + " It was late, and so they all went to sleep."
    ),
}
STORIES = {
    "Felix": "Felix had a dog called Bruno. Bruno ran along the beach. Felix was happy.",
    "Amara": "Amara had a cat called Olive. Olive found a red kite. Amara was happy.",
    "Nils": "Nils had an owl called Hoot. Hoot flew over the forest.",
    "Clara": "Clara had a donkey called Fred. In the garden Fred lost the key.",
    "Yuki": "Yuki had a turtle called Tank. Tank found a lantern.",
    "Marco": "Marco had a duck called Waddles. Waddles sat in the boat on the river.",
    "Priya": "Priya had a mouse, Crumb. Jack had a hamster, Nugget. They found the map.",
    "Elise": "Elise had a fox. The fox carried the basket to the village.",
    "Bartholomew": "Bartholomew had a pony called Thunder. Thunder found the green hat.",
    "Ines": "Ines had a goose called Pepper. Pepper played the drum at the market.",
}


def filled(line: str, fills: list[list[str]]) -> str:
    for words in fills:
        line = line.replace("___", words[0], 1)
    return line


ITEMS = handwritten_prompts()


@pytest.mark.parametrize("name", SUITES)
def test_each_task_has_ten_that_a_right_answer_passes_and_no_other(name) -> None:
    items = [item for item in ITEMS if item.task == name]
    assert len(items) == 10
    for item in items:
        check = TASKS[name].check
        assert check(item, RIGHT[name](item.case))
        assert not check(item, "")
        others = [other for other in items if other.case != item.case]
        assert not check(item, RIGHT[name](others[0].case))


def test_the_prompts_are_distinct_plain_and_not_the_generators() -> None:
    assert max(Counter(item.prompt for item in ITEMS).values()) == 1
    assert all(item.prompt.isascii() for item in ITEMS)
    names = sorted({item.task for item in ITEMS})
    made = {example.prompt for example in islice(examples(0, "train", names), 5000)}
    assert not made & {item.prompt for item in ITEMS}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        "[1]",
        '[{"family": "math", "prompt": "a"}]',
        '[{"family": "math", "prompt": "", "case": "1"}]',
        '[{"family": "math", "prompt": "a", "case": 1}]',
        '[{"family": "chess", "prompt": "a", "case": "1"}]',
        '[{"family": "math", "prompt": "a", "case": "1", "more": ""}]',
    ],
)
def test_a_malformed_file_is_refused_by_name(text: str, tmp_path) -> None:
    path = tmp_path / "own.json"
    path.write_text(text)
    with pytest.raises(ArgumentError):
        handwritten_prompts(path)
