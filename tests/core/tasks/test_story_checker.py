"""A story that keeps to the facts of its prompt passes, and one that does not fails."""

import json

import pytest

from sbd_core.tasks import Example
from sbd_core.tasks import story as stories
from sbd_core.tasks.story import fault_of

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


def checked(text: str, **changes: object) -> bool:
    return stories.check(Example("story", "", "", json.dumps({**CASE, **changes})), text)


def test_a_consistent_story_passes_whatever_is_told() -> None:
    assert checked(STORY)
    for slot in ("person", "animal", "species", "object", "color", "place"):
        case = {name: told for name, told in CASE.items() if name not in (slot, "owns")}
        assert stories.check(Example("story", "", "", json.dumps(case)), STORY), slot


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


@pytest.mark.parametrize("text", ["", "\ud800\x00", "Mia " * 9000, ".", "'" * 1999 + "."])
def test_any_text_can_be_checked(text: str) -> None:
    assert not checked(text)
    assert not stories.check(Example("story", "", "", "{}"), text)


@pytest.mark.parametrize(
    ("slot", "phrase", "old"),
    [
        ("person", "brave knight", "Mia"),
        ("person", "Zulori", "Mia"),
        ("animal", "Quibble", "Rex"),
        ("object", "bag of apples", "kite"),
        ("object", "zorvin", "kite"),
        ("place", "haunted house", "park"),
        ("place", "land of Zorvin", "park"),
        ("species", "baby dragon", "dog"),
    ],
)
def test_open_words_must_occur_as_told(slot: str, phrase: str, old: str) -> None:
    owns = [[phrase if part == old else part for part in CASE["owns"][0]]]
    changes = {slot: [phrase], "owns": owns}
    story = STORY.replace(old, phrase)
    assert checked(story, **changes)
    assert not checked(STORY, **changes)
    assert not checked(story.replace(phrase, phrase[:-2]), **changes)


def test_a_told_pronoun_counts_for_a_name_of_no_list() -> None:
    story = STORY.replace("Mia", "Zulori")
    owns = [["Zulori", "dog", "Rex"]]
    for pronoun, is_right in (("she", True), ("he", False)):
        told = {"Zulori": pronoun}
        assert checked(story, person=["Zulori"], owns=owns, pronouns=told) is is_right
    both = story.replace("and was sad", "and he was sad")
    assert checked(story, person=["Zulori"], owns=owns)
    assert not checked(both, person=["Zulori"], owns=owns)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("There she", "There Tom", "“Tom” is not in the prompt"),
        ("But Rex", "But Luna", "“Luna” is not in the prompt"),
        ("Rex the dog", "Rex the cat", "“cat” is not in the prompt"),
        ("a red kite", "a blue kite", "“blue” is not in the prompt"),
        ("a red kite", "a kite", "“red” of the prompt is missing"),
        ("But Rex the", "But Rax the", "“Rax” is a word of no prompt or story"),
        ("she laughed.", "she laughed", "its last sentence does not end"),
        (STORY, "Mia and Rex flew a kite.", "it does not have 15 to 150 words"),
        ("she laughed", "she laughed laughed", "a word twice in a row, “laughed laughed”"),
        ("she laughed.", "she laughed. Mia and her dog Rex went to the park.", "a sentence twice"),
        ("the park", "the dark", "“park” of the prompt is missing"),
        ("the kite", "the drum", "“drum” is not in the prompt"),
        ("There she", "There he", "“he” and “she” are mixed up"),
        ("dog Rex", "dog Rex or Rexx", "“Rexx” is a word of no prompt or story"),
        ("dog Rex", "dog Rex and Wolfgang", "“Wolfgang” is a word of no prompt or story"),
        ("the grass", "withagrass", "“withagrass” is a word of no prompt or story"),
        ("the grass", "the gra s", "“gra” is a word of no prompt or story"),
        ("the park", "the park, and I too", ""),
        ("the kite in", "the ki kite te in", "“ki” is a word of no prompt or story"),
        ("There she", "Therut she", "“Therut” is a word of no prompt or story"),
        (" And", "", ""),
        ("she laughed.", "she laughed. Puff! It was a good day.", ""),
    ],
)
def test_a_fault_is_named(old: str, new: str, fault: str) -> None:
    found = fault_of(json.dumps(CASE), STORY.replace(old, new))
    assert fault in found
    assert bool(found) == bool(fault)


def test_a_word_of_no_story_passes_where_the_prompt_tells_it_also_in_the_plural() -> None:
    for phrase in ("zorvin", "crooked zorvin", "Zorvin-quim"):
        story = STORY.replace("red kite", f"red {phrase}").replace("the kite", f"the {phrase}s")
        assert checked(story, object=[phrase]), phrase
    assert not checked(STORY.replace("grass", "zorvin"))


def test_a_new_name_is_allowed_where_the_prompt_leaves_one_open_and_only_there() -> None:
    open_case = {name: told for name, told in CASE.items() if name not in ("animal", "owns")}
    facts, new = json.dumps(open_case), STORY.replace("Rex", "Kalvoni")
    assert fault_of(facts, new) == ""
    assert "“Wubble” is a word of no prompt" in fault_of(facts, new.replace("There she", "Wubble"))
    assert "are not in the prompt" in fault_of(facts, STORY.replace("But Rex", "But Luna"))
    told = fault_of(json.dumps(CASE), STORY.replace("But Rex", "But Kalvoni"))
    assert "“Kalvoni” is a word of no prompt" in told
