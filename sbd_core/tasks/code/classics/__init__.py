"""Well-known functions a beginner asks for, by subject."""

from dataclasses import replace

from sbd_core.tasks.code.classics.classic import Classic
from sbd_core.tasks.code.classics.lists import LISTS
from sbd_core.tasks.code.classics.more_nouns import MORE_NOUNS
from sbd_core.tasks.code.classics.more_verbs import MORE_CONDITIONS, MORE_VERBS
from sbd_core.tasks.code.classics.numbers import NUMBERS
from sbd_core.tasks.code.classics.tables import TABLES
from sbd_core.tasks.code.classics.texts import TEXTS


def _with_more(item: Classic) -> Classic:
    """`item` with all its wordings, of the kinds that its docstring may be worded in."""
    nouns, verbs, conditions = (
        "|".join(filter(None, (own, more.get(item.key, ""))))
        for own, more in (
            (item.nouns, MORE_NOUNS), (item.verbs, MORE_VERBS), (item.conditions, MORE_CONDITIONS),
        )
    )  # fmt: skip
    return replace(item, nouns=nouns, verbs=verbs, conditions=conditions)


CLASSICS: tuple[Classic, ...] = tuple(map(_with_more, NUMBERS + LISTS + TEXTS + TABLES))

__all__ = ["CLASSICS", "Classic"]
