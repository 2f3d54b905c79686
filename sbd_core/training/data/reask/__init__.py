"""Asks for functions in words composed anew, for training."""

from sbd_core.training.data.reask.asking import reasked

__all__ = ["reasked"]
