"""Laws of what tasks share: hashes that decide splits, pools, made-up names."""

from random import Random

from sbd_core.tasks.base import (
    WORDINGS,
    Pool,
    draw_wording,
    is_reserved,
    is_womanly,
    made_up_name,
    split_of,
)
from sbd_core.tasks.words import MEN, NAME_POOL, NAMES, WOMEN


def test_the_splits_are_the_same_in_every_version() -> None:
    """Pinned: a change here means that a checkpoint was trained on what is now test."""
    assert split_of("2 + 2 = 4") == "train"
    assert split_of("48 - 6 = 42") == "test"
    assert [name for name in NAMES[:20] if is_reserved(name)] == ["Anna", "Dora"]
    assert is_reserved("ANNA")


def test_about_a_seventh_of_all_names_is_reserved() -> None:
    assert 0.10 < len(NAME_POOL.reserved) / len(NAMES) < 0.20
    assert not set(NAME_POOL.seen) & set(NAME_POOL.reserved)
    assert set(NAME_POOL.seen + NAME_POOL.reserved) == set(NAMES) == set(WOMEN + MEN)


def test_training_draws_seen_words_and_test_draws_both() -> None:
    random = Random(0)
    assert {draw_wording(random, "train") for _ in range(1000)} == {"seen"}
    unseen = sum(draw_wording(random, "test") == "unseen" for _ in range(1000))
    assert 400 < unseen < 600


def test_a_wording_draws_its_own_names_only() -> None:
    random = Random(0)
    for wording in WORDINGS:
        drawn = [NAME_POOL.draw(random, wording) for _ in range(1000)]
        drawn += [made_up_name(random, wording) for _ in range(1000)]
        drawn += NAME_POOL.sample(random, wording, 5)
        assert {is_reserved(name) for name in drawn} == {wording == "unseen"}


def test_a_pool_with_nothing_reserved_gives_what_it_has() -> None:
    pool = Pool([name for name in NAMES if not is_reserved(name)][:3])
    assert not pool.has_reserved
    assert pool.draw(Random(0), "unseen") in pool.seen
    assert sorted(pool.sample(Random(0), "unseen", 3)) == sorted(pool.seen)


def test_everyday_entries_are_never_reserved() -> None:
    chosen = NAME_POOL.reserved[0]
    pool = Pool(NAMES, everyday={chosen})
    assert chosen in pool.seen
    assert set(pool.reserved) == set(NAME_POOL.reserved) - {chosen}


def test_too_few_reserved_entries_are_filled_up_with_seen_ones() -> None:
    found = NAME_POOL.sample(Random(0), "unseen", len(NAME_POOL.reserved) + 4)
    assert len(set(found)) == len(found)
    assert set(NAME_POOL.reserved) < set(found)


def test_made_up_names_are_many_plain_and_of_both_sexes() -> None:
    random = Random(0)
    names = [made_up_name(random, "seen") for _ in range(4000)]
    assert len(set(names)) > 3000
    assert all(name.isascii() and name.isalpha() and name.istitle() for name in names)
    assert 0.3 < sum(map(is_womanly, names)) / len(names) < 0.7
