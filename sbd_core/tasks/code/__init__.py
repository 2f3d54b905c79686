"""Small Python functions described in a sentence."""

from sbd_core.tasks.code.task import TASK

__all__ = ["TASK"]
