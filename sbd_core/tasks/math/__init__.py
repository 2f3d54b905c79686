"""Arithmetic word problems, solved line by line."""

from sbd_core.tasks.math.task import FAMILY

__all__ = ["FAMILY"]
