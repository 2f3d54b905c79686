"""Stories keep to the facts of their prompt, and the checker sees when they do not."""

import json
import re
from itertools import islice
from random import Random
from string import Formatter

import pytest

from sbd_core.tasks import Example, examples
from sbd_core.tasks.base import split_of
from sbd_core.tasks.story import plots
from sbd_core.tasks.story import task as stories
from sbd_core.tasks.story.words import ANIMAL_NAMES, LISTS, OBJECTS, PEOPLE, SPECIES

CASE = {
    "person": ["Mia"],
    "animal": ["Rex"],
    "species": ["dog"],
    "object": ["kite"],
    "color": ["red"],
    "place": ["park"],
    "owns": [["Mia", "dog", "Rex"]],
}
STORY = (
    "Mia and her dog Rex went to the park. There she lost a red kite and was sad. "
    "But Rex the dog found the kite in the grass. Mia's dog was proud, and she laughed."
)


def drawn(seed: int, split: str, count: int) -> list[Example]:
    return list(islice(examples(seed, split, ["story"]), count))


def checked(text: str, **changes: object) -> bool:
    return stories.check(Example("story", "", "", json.dumps({**CASE, **changes})), text)


def test_every_story_passes_its_checker() -> None:
    for example in drawn(1, "train", 2000) + drawn(1, "test", 500):
        assert stories.check(example, example.answer), example


def test_every_told_word_is_in_the_prompt_and_no_other_list_word() -> None:
    """So the prompt alone tells the composition, and with it the split."""
    for example in drawn(2, "train", 1000) + drawn(2, "test", 300):
        case = json.loads(example.case)
        words = set(re.findall(r"[A-Za-z]+", example.prompt))
        told = {word for slot in LISTS for word in case.get(slot, ())}
        assert told <= words, example
        assert not (words & set().union(*LISTS.values())) - told, example


def test_no_prompt_and_no_composition_is_in_both_splits() -> None:
    train, test = drawn(3, "train", 4000), drawn(3, "test", 800)
    assert not {e.prompt for e in train} & {e.prompt for e in test}

    def pairs(found: list[Example]) -> set[tuple[str, ...]]:
        cases = [json.loads(e.case) for e in found]
        # With a plot told, the same species and thing may be in both, in another plot.
        hints = [hint for plot in plots.PLOTS for hint in (*plot.hints, plot.adjective) if hint]
        return {
            tuple(sorted(c["species"] + c["object"]))
            for c, e in zip(cases, found, strict=True)
            if {"species", "object"} <= set(c) and not any(hint in e.prompt for hint in hints)
        }

    assert {split_of(" ".join(pair)) for pair in pairs(train)} == {"train"}
    assert {split_of(" ".join(pair)) for pair in pairs(test)} == {"test"}


def test_a_prompt_has_many_right_answers() -> None:
    draft = stories.draft_story(Random(4))
    case = stories._facts(draft).to_case()
    answers = {stories._story(Random(seed), draft) for seed in range(50)}
    assert len(answers) > 40
    assert all(stories.check(Example("story", "", "", case), answer) for answer in answers)


def test_wordings_hold_no_word_of_the_lists() -> None:
    wordings = [
        *plots.OPENINGS, *plots.OPENINGS_OF_TWO, *plots.ENDINGS, *plots.ENDINGS_OF_TWO,
        *plots.TIMES, *plots.GLAD, *plots.SAD, *SPECIES.values(),
        *(wording for plot in plots.PLOTS for beat in plot.beats for wording in beat),
        *(hint for plot in plots.PLOTS for hint in (*plot.hints, plot.adjective)),
    ]  # fmt: skip
    assert len(wordings) > 200
    for wording in wordings:
        text = "".join(literal for literal, *_ in Formatter().parse(wording))
        for word in re.findall(r"[A-Za-z]+", text):
            for slot, listed in LISTS.items():
                assert not {word, word.lower(), word.lower().rstrip("s")} & listed, (word, slot)


def test_the_lists_are_wide_and_do_not_overlap() -> None:
    assert len(PEOPLE) >= 120
    assert len(ANIMAL_NAMES) >= 50
    assert len(OBJECTS) >= 60
    every = [word for listed in LISTS.values() for word in {w.lower() for w in listed}]
    assert sorted(every) == sorted(set(every))


def test_a_consistent_story_passes_whatever_is_told() -> None:
    assert checked(STORY)
    for slot in ("person", "animal", "species", "object", "color", "place"):
        case = {name: told for name, told in CASE.items() if name not in (slot, "owns")}
        assert stories.check(Example("story", "", "", json.dumps(case)), STORY), slot


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("There she", "There Tom"),
        ("But Rex", "But Luna"),
        ("Rex the dog", "Rex the cat"),
        ("Mia's dog", "Mia's cat"),
        ("the kite", "the drum"),
        ("a red kite", "a blue kite"),
        ("a red kite", "a kite"),
        ("the park", "the zoo"),
        ("There she", "There he"),
        ("she laughed.", "she laughed"),
        ("she laughed.", "she she laughed."),
        ("she laughed.", "she laughed. Mia and her dog Rex went to the park."),
        (" There she lost a red kite and was sad. But Rex the dog found the kite in the", ""),
    ],
)
def test_a_spoiled_story_fails(old: str, new: str) -> None:
    assert old in STORY
    assert not checked(STORY.replace(old, new))


def test_two_pairs_may_not_be_mixed() -> None:
    case = {
        "person": ["Mia", "Tom"],
        "animal": ["Rex", "Luna"],
        "species": ["dog", "cat"],
        "owns": [["Mia", "dog", "Rex"], ["Tom", "cat", "Luna"]],
    }
    story = (
        "Mia's dog Rex saw Luna the cat of Tom. They ran and ran until the dog Rex was tired. "
        "Then they all went home and slept well."
    )
    assert stories.check(Example("story", "", "", json.dumps(case)), story)
    for old, new in [("dog Rex", "dog Luna"), ("Luna the cat", "Luna the dog"), ("Mia's", "Tom's")]:
        spoiled = story.replace(old, new, 1)
        assert not stories.check(Example("story", "", "", json.dumps(case)), spoiled), spoiled


def test_names_of_no_list_are_asked_for_as_well() -> None:
    story = STORY.replace("Mia", "Zulori").replace("Rex", "Quibble")
    owns = [["Zulori", "dog", "Quibble"]]
    assert checked(story, person=["Zulori"], animal=["Quibble"], owns=owns)
    assert not checked(STORY, person=["Zulori"], animal=["Quibble"], owns=owns)


@pytest.mark.parametrize("text", ["", "\ud800\x00", "Mia " * 9000, ".", "'" * 1999 + "."])
def test_any_text_can_be_checked(text: str) -> None:
    assert not checked(text)
    assert not stories.check(Example("story", "", "", "{}"), text)
