"""Well-known functions a beginner asks for, by subject."""

from sbd_core.tasks.code.classics.classic import Classic
from sbd_core.tasks.code.classics.lists import LISTS
from sbd_core.tasks.code.classics.numbers import NUMBERS
from sbd_core.tasks.code.classics.tables import TABLES
from sbd_core.tasks.code.classics.texts import TEXTS

CLASSICS: tuple[Classic, ...] = NUMBERS + LISTS + TEXTS + TABLES

__all__ = ["CLASSICS", "Classic"]
