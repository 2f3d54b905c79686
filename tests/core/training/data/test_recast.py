"""Stories of words that nobody knows, for training."""

import json
import re
from itertools import islice
from random import Random

import pytest
from tokenizers import Tokenizer

from sbd_core.tasks import Example, examples, task
from sbd_core.tasks.base import is_reserved, split_of
from sbd_core.tasks.story import asking, casting, prompts, words
from sbd_core.tasks.story import task as stories
from sbd_core.training.data import phrases, recast
from sbd_core.training.data.sources import mixed
from tests.core.tasks.test_stories import TOKENIZER

FACTS = ("person", "animal", "species", "object", "place")
POOLS = (words.PEOPLE_POOL, words.ANIMAL_POOL, words.ODD_OBJECTS, words.ODD_PLACE_POOL,
         words.ODD_SPECIES, words.ROLES, words.OBJECT_POOL, words.SPECIES_POOL)  # fmt: skip
PROMPT_POOLS = (prompts.ASKS, prompts.LEADS, prompts.ABOUT, prompts.THERE, prompts.ALSO,
                prompts.AFTER_PET, prompts.KINDS, prompts.PERSON, prompts.PAIRS, prompts.AT,
                *prompts.PETS.values())  # fmt: skip
KNOWN = {word for pool in POOLS for phrase in pool.seen for word in phrase.lower().split()}


def drawn(seed: int, count: int = 1500) -> list[Example]:
    random = Random(seed)
    return [recast.recast_story(random) for _ in range(count)]


@pytest.fixture(scope="module")
def recasts() -> list[Example]:
    return drawn(5)


def phrases_of(example: Example) -> list[str]:
    told = json.loads(example.case)
    return [phrase for slot in FACTS for phrase in told.get(slot, ())]


def test_a_share_of_stories_are_recast_and_no_other_task(monkeypatch) -> None:
    made = recast.recast_story(Random(1))
    monkeypatch.setattr(recast, "recast_story", lambda random: made)
    found = [recast.generate(Random(seed), "story") is made for seed in range(1000)]
    assert 0.9 * recast.RECAST_RATE < sum(found) / 1000 < 1.1 * recast.RECAST_RATE
    for name in ("code", "json", "infill", "math", "sudoku"):
        plain = task(name).generate(Random(3), "train")
        assert recast.generate(Random(3), name) == plain


def test_every_recast_answer_is_right_and_all_its_facts_are_told(recasts) -> None:
    for example in recasts:
        assert stories.check(example, example.answer), example
        assert all(phrase in example.prompt for phrase in phrases_of(example)), example
        assert "{" not in example.prompt + example.answer
        assert not re.search(r"\b[Aa]n [b-df-hj-np-tv-z]|\b[Aa] [aeio]", example.prompt), example


def test_most_recasts_tell_of_a_word_that_no_list_has(recasts) -> None:
    odd = [any(set(phrase.lower().split()) - KNOWN for phrase in phrases_of(e)) for e in recasts]
    plain = list(islice(examples(5, "train", ["story"]), 1500))
    usual = [any(set(phrase.lower().split()) - KNOWN for phrase in phrases_of(e)) for e in plain]
    assert sum(odd) > 0.75 * len(odd)
    assert sum(odd) > 1.2 * sum(usual)
    others = [e for e in recasts for kind in json.loads(e.case).get("species", ())
              if kind in words.OBJECT_POOL.seen + words.ODD_OBJECTS.seen]  # fmt: skip
    assert len(others) > 50


def test_no_recast_has_what_is_reserved_for_test(recasts) -> None:
    kept = {phrase for pool in POOLS for phrase in pool.reserved}
    for example in recasts:
        for phrase in phrases_of(example):
            single = [word for word in phrase.split() if word.lower() not in KNOWN | {"of"}]
            assert phrase not in kept
            assert not any(map(is_reserved, single)), phrase
    ordinary = {word for pool in PROMPT_POOLS for text in pool.seen
                for word in re.findall(r"[a-z]+", text.lower())}  # fmt: skip
    ordinary |= set(re.findall(r"[a-z]+", str(phrases.PARTS).lower() + str(phrases.ALSO).lower()))
    told = {word for e in recasts for word in re.findall(r"[a-z]+", e.prompt.lower())}
    plain = {word for e in islice(examples(8, "train", ["story"]), 3000)
             for word in re.findall(r"[a-z]+", e.prompt.lower())}  # fmt: skip
    assert {word for word in told - ordinary - plain - KNOWN if is_reserved(word)} == set()


def test_no_request_has_a_phrase_that_only_the_test_has() -> None:
    random = Random(4)
    seen = " | ".join(text for pool in PROMPT_POOLS for text in pool.seen)
    kept = {text for pool in PROMPT_POOLS for text in pool.reserved if text not in seen}
    kept = {text for text in kept if len(text) > len("{thing} {thing}")}
    assert len(kept) > 40
    for _ in range(2000):
        draft = stories.draft_story(random, "seen")
        if draft.told - {"place", "plot"}:
            text = phrases.request(random, draft, lambda: "vabek", lambda: "plin")
            assert not asking.is_held_out(text)
            opened = text.replace("a {o}", "{thing}").replace("a {k}", "{thing}")
            assert not [one for one in kept if one in text or one in opened], text


def test_every_recast_is_of_the_training_split(monkeypatch) -> None:
    drafts = []

    def noted(random, draft, *, is_told_as):
        drafts.append(draft)
        return story_of(random, draft, is_told_as=is_told_as)

    story_of = stories.story_of
    monkeypatch.setattr(stories, "story_of", noted)
    drawn(6, 500)
    assert {split_of(stories.composition(draft)) for draft in drafts} == {"train"}


def test_the_words_to_draw_from_are_many_and_none_is_reserved() -> None:
    assert len(recast.things()) > 300
    for found in (recast.things(), recast.places(), recast.roles(), recast.adjectives()):
        assert len(set(found)) == len(found) > 40
        assert not any(map(is_reserved, found))
    assert not set(recast.family_names()) & casting.TAKEN


def test_recasts_depend_on_the_random_generator_alone_and_training_draws_them() -> None:
    assert drawn(7, 50) == drawn(7, 50)
    items = [item for _, item in islice(mixed(3, {"story": 1.0}, []), 600)]
    kinds = {kind for item in items for kind in json.loads(item.case).get("species", ())}
    assert kinds & set(words.OBJECT_POOL.seen + words.ODD_OBJECTS.seen)


def test_a_recast_fits_a_training_row(recasts) -> None:
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    lengths = [
        len(tokenizer.encode(e.prompt).ids) + 2 * len(tokenizer.encode(e.answer).ids) + 15
        for e in recasts
    ]
    assert sum(length > 256 for length in lengths) < 0.01 * len(lengths)
