"""Small Python functions described in a sentence."""

from sbd_core.tasks.code.task import FAMILY

__all__ = ["FAMILY"]
