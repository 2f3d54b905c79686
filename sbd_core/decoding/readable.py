"""A decode as text that grows while it comes. Prints nothing."""

from collections.abc import Iterable, Iterator

from sbd_core.events import StepEvent
from sbd_core.models.protocol import SetBlockModel


def with_new_text(
    model: SetBlockModel, events: Iterable[StepEvent]
) -> Iterator[tuple[StepEvent, str]]:
    """Each event and what it adds to the answer, which begins with all that was given before.

    A character split over tokens comes with its last byte.
    """
    token_ids: list[int] = []
    given = ""
    for event in events:
        token_ids.extend(event.committed)
        text = model.decode(token_ids).rstrip("\ufffd")
        new = text.removeprefix(given) if text.startswith(given) else ""
        given += new
        yield event, new
