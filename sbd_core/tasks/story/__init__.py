"""Short stories that keep to the facts of their prompt."""

from sbd_core.tasks.story.task import TASK

__all__ = ["TASK"]
