"""The many ways to say what a well-known function does: synonyms and frames."""

from sbd_core.tasks.code.rewording.frames import possessive, taking
from sbd_core.tasks.code.rewording.reword import Rewording, num_wordings, parts_of

__all__ = ["Rewording", "num_wordings", "parts_of", "possessive", "taking"]
