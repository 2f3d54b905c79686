"""A line with blanks, answered by the whole line filled."""

from sbd_core.tasks.infill.task import TASK

__all__ = ["TASK"]
