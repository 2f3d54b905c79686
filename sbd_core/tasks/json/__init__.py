"""Facts in a paragraph to one line of JSON."""

from sbd_core.tasks.json.task import TASK

__all__ = ["TASK"]
