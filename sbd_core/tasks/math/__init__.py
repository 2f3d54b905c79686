"""Arithmetic word problems, solved line by line."""

from sbd_core.tasks.math.task import TASK

__all__ = ["TASK"]
