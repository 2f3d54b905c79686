"""Stories keep to the facts of their prompt, in words of which some are kept for the test split."""

import json
import re
from itertools import islice
from pathlib import Path
from random import Random
from string import Formatter

from tokenizers import Tokenizer

from sbd_core.tasks import Example, examples
from sbd_core.tasks.base import Pool, is_reserved, split_of
from sbd_core.tasks.story import plots, prompts, words
from sbd_core.tasks.story import task as stories
from sbd_core.tasks.story.hints import HINTS
from sbd_core.tasks.story.words import ANIMAL_NAMES, LISTS, OBJECTS, PEOPLE, SPECIES

TOKENIZER = Path(__file__).parents[3] / "assets/checkpoints/sbd-nano/tokenizer.json"
PROMPT_POOLS = [pool for pool in vars(prompts).values() if isinstance(pool, Pool)]
PROMPT_POOLS += list(prompts.PETS.values())
KNOWN = {word.lower() for listed in LISTS.values() for word in listed} | {
    word
    for pool in (words.ODD_OBJECTS, words.ODD_SPECIES, words.ODD_PLACE_POOL, words.ROLES)
    for phrase in (*pool.seen, *pool.reserved)
    for word in phrase.split()
}
ALL_HINTS = [hint for pool in HINTS.values() for hint in (*pool.seen, *pool.reserved)]


def drawn(seed: int, split: str, count: int) -> list[Example]:
    return list(islice(examples(seed, split, ["story"]), count))


def test_every_story_passes_its_checker() -> None:
    for example in drawn(1, "train", 2000) + drawn(1, "test", 500):
        assert stories.check(example, example.answer), example


def phrases_of(example: Example) -> list[str]:
    case = json.loads(example.case)
    return [phrase for slot in LISTS for phrase in case.get(slot, ())]


def test_every_told_phrase_is_in_the_prompt_and_in_the_story_and_no_other_list_word() -> None:
    """So the prompt alone tells the composition, and with it the split."""
    for example in drawn(2, "train", 1000) + drawn(2, "test", 300):
        phrases = phrases_of(example)
        told = {word for phrase in phrases for word in re.findall(r"[A-Za-z]+", phrase)}
        words = set(re.findall(r"[A-Za-z]+", example.prompt))
        for phrase in phrases:
            assert phrase.lower() in example.prompt.lower(), example
            assert phrase.lower() in example.answer.lower(), example
        assert not (words & set().union(*LISTS.values())) - told, example


def test_no_prompt_and_no_composition_is_in_both_splits() -> None:
    train, test = drawn(3, "train", 4000), drawn(3, "test", 800)
    assert not {e.prompt for e in train} & {e.prompt for e in test}

    def pairs(found: list[Example]) -> set[tuple[str, ...]]:
        cases = [json.loads(e.case) for e in found]
        # With a plot told, the same species and thing may be in both, in another plot.
        hints = [*ALL_HINTS, *(plot.adjective for plot in plots.PLOTS if plot.adjective)]
        return {
            tuple(sorted(c["species"] + c["object"]))
            for c, e in zip(cases, found, strict=True)
            if {"species", "object"} <= set(c)
            and not any(hint in e.prompt.lower() for hint in hints)
        }

    assert {split_of(" ".join(pair)) for pair in pairs(train)} == {"train"}
    assert {split_of(" ".join(pair)) for pair in pairs(test)} == {"test"}


def test_a_prompt_has_many_right_answers() -> None:
    draft = stories.draft_story(Random(4), "seen")
    for is_told_as in (False, True):
        case = stories.facts_of(draft, is_told_as=is_told_as).to_case()
        answers = {
            stories.story_of(Random(seed), draft, is_told_as=is_told_as) for seed in range(50)
        }
        assert len(answers) > 40
        assert all(stories.check(Example("story", "", "", case), one) for one in answers)


def test_wordings_hold_no_word_of_the_lists() -> None:
    wordings = [
        *plots.WORDINGS, *plots.GLAD, *plots.SAD, *SPECIES.values(),
        *ALL_HINTS, *(plot.adjective for plot in plots.PLOTS),
        *(text for pool in PROMPT_POOLS for text in (*pool.seen, *pool.reserved)),
    ]  # fmt: skip
    assert len(wordings) > 500
    for wording in wordings:
        text = "".join(literal for literal, *_ in Formatter().parse(wording))
        for word in re.findall(r"[A-Za-z]+", text):
            for slot, listed in LISTS.items():
                assert not {word, word.lower(), word.lower().rstrip("s")} & listed, (word, slot)


def test_no_unusual_thing_is_met_by_chance_in_the_wordings() -> None:
    """Else a story would pass that leaves it out."""
    text = " ".join(re.sub(r"\{\w+\}", "_", wording) for wording in plots.WORDINGS).lower()
    for pool in (words.ODD_OBJECTS, words.ODD_SPECIES, words.ODD_PLACE_POOL, words.ROLES):
        for phrase in (*pool.seen, *pool.reserved):
            assert not re.search(rf"\b{phrase}(e?s)?\b", text), phrase


def test_every_beat_can_be_told_without_a_pronoun() -> None:
    beats = [beat for plot in plots.PLOTS for beat in plot.beats]
    beats += [plots.OPENINGS_WITH_FRIEND, plots.ENDINGS_WITH_FRIEND]
    beats += [plots.OPENINGS, plots.OPENINGS_OF_TWO, plots.ENDINGS, plots.ENDINGS_OF_TWO]
    for beat in beats:
        assert sum(not stories.PRONOUN.search(wording) for wording in beat) >= 2, beat
        assert len(beat) >= 4


def test_a_plot_is_asked_for_in_many_words_some_of_them_in_test_alone() -> None:
    assert set(HINTS) == {plot.name for plot in plots.PLOTS}
    for pool in HINTS.values():
        assert len(pool.seen) >= 5
        assert len(set(pool.seen + pool.reserved)) == len(pool.seen + pool.reserved) >= 9
    reserved = {hint for pool in HINTS.values() for hint in pool.reserved}
    assert len(reserved) >= 40
    assert not reserved & {hint for pool in HINTS.values() for hint in pool.seen}
    ends = re.compile(
        "( with | and | about |, )(" + "|".join(sorted(reserved)) + r")(,|\.| and |$)"
    )
    assert not any(ends.search(e.prompt) for e in drawn(5, "train", 3000))
    assert any(ends.search(e.prompt) for e in drawn(5, "test", 300) if e.wording == "unseen")


def test_there_are_many_plots_and_each_brings_the_thing_in_once() -> None:
    assert len(plots.PLOTS) >= 2 * 17
    assert len({plot.name for plot in plots.PLOTS}) == len(plots.PLOTS)
    for plot in plots.PLOTS:
        brings = [["{o}" in wording for wording in beat] for beat in plot.beats]
        assert sum(all(found) for found in brings) == 1, plot.name
        assert all(all(found) or not any(found) for found in brings), plot.name


def test_there_are_many_ways_to_ask() -> None:
    ways = [*prompts.ASKS.seen, *prompts.AFTER_PET.seen, *prompts.LEADS.seen]
    assert len(ways) >= 30
    found = {e.prompt.split(" ")[0] + e.prompt[-9:] for e in drawn(6, "train", 1000)}
    assert len(found) > 300


def test_pronouns_are_said_only_where_the_prompt_tells_them() -> None:
    said = told = 0
    for example in drawn(7, "train", 2000):
        case = json.loads(example.case)
        tells = re.search(r"\b(his|her|girl|boy)\b", example.prompt) is not None
        assert tells == bool(case["pronouns"])
        says = re.search(r"\b([Hh]e|[Ss]he|him|her|his)\b", example.answer) is not None
        assert tells or not says or "person" not in case
        told += tells
        said += says and tells
    assert told > 500
    assert said > 200


def test_nothing_reserved_for_test_is_in_train() -> None:
    """Names, things, places, roles, ways to ask: what a story of test has in unseen words."""
    train, test = drawn(8, "train", 5000), drawn(8, "test", 1500)
    assert {e.wording for e in train} == {"seen"}
    pools = (words.PEOPLE_POOL, words.ANIMAL_POOL, words.ODD_OBJECTS, words.ODD_PLACE_POOL,
             words.ODD_SPECIES, words.ROLES, words.OBJECT_POOL, words.SPECIES_POOL)  # fmt: skip
    reserved = {phrase for pool in pools for phrase in pool.reserved}
    assert len(reserved) > 60
    met = {phrase for e in train for phrase in phrases_of(e)}
    assert not met & reserved
    unseen = [e for e in test if e.wording == "unseen"]
    assert 0.4 < len(unseen) / len(test) < 0.6
    assert len({phrase for e in unseen for phrase in phrases_of(e)} & reserved) > 40
    fragments = {part.strip() for pool in PROMPT_POOLS for text in pool.reserved
                 for part in re.split(r"\{\w+\}", text) if len(part.strip()) >= 9}  # fmt: skip
    seen_text = " | ".join(text for pool in PROMPT_POOLS for text in pool.seen)
    own = {part for part in fragments if part not in seen_text}
    assert len(own) >= 10
    assert [part for part in own for e in train if part in e.prompt] == []
    assert {part for part in own for e in unseen if part in e.prompt} > set()
    made_up = {phrase for e in train for phrase in phrases_of(e)
               if phrase.isalpha() and phrase.lower() not in KNOWN}  # fmt: skip
    assert len(made_up) > 1000
    assert {phrase for phrase in made_up if is_reserved(phrase)} == set()


def test_a_story_fits_a_training_row() -> None:
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    stories_drawn = drawn(9, "train", 1500) + drawn(9, "test", 500)
    lengths = [
        len(tokenizer.encode(e.prompt).ids) + 2 * len(tokenizer.encode(e.answer).ids) + 15
        for e in stories_drawn
    ]
    assert sum(length > 256 for length in lengths) < 0.01 * len(lengths)
    assert max(lengths) < 300


def test_the_lists_are_wide_and_do_not_overlap() -> None:
    assert len(PEOPLE) >= 120
    assert len(ANIMAL_NAMES) >= 50
    assert len(OBJECTS) >= 60
    every = [word for listed in LISTS.values() for word in {w.lower() for w in listed}]
    assert sorted(every) == sorted(set(every))


def test_a_second_person_may_be_told_without_an_animal_of_their_own() -> None:
    cases = [json.loads(e.case) for e in drawn(10, "train", 1000)]
    with_friend = [case for case in cases if len(case.get("person", ())) > len(case["owns"])]
    assert len(with_friend) > 50
