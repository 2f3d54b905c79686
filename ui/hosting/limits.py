"""Limits on the requests of one visitor: the usual ones, and tighter ones for public pages.

Knows no Gradio and no model.
"""

from dataclasses import dataclass

from sbd_core.config import DecodeConfig
from sbd_core.errors import ArgumentError
from ui.decode.fair_queue import MAX_PLACES
from ui.decode.form import MAX_NEW_TOKENS, MAX_PROMPT_CHARACTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one decode, and of a visitor.

    max_run_seconds: wall-clock time of a run.
    max_places, max_places_of_session: places in line of one address, and of one tab or program.
    may_fetch_model: whether visitors may fetch a model's base, and the export of a model that is
    not bundled, with which their browser decodes.
    """

    max_prompt_characters: int = MAX_PROMPT_CHARACTERS
    max_prompt_tokens: int = 1_000
    max_new_tokens: int = MAX_NEW_TOKENS
    max_run_seconds: float = 300.0
    max_places: int = MAX_PLACES
    max_places_of_session: int = MAX_PLACES
    may_fetch_model: bool = True

    def check_config(self, prompt: str, config: DecodeConfig) -> None:
        """Raise ArgumentError for a too long prompt or answer, before any token is counted."""
        if len(prompt) > self.max_prompt_characters:
            rule = f"must be at most {self.max_prompt_characters:,} characters"
            raise ArgumentError("prompt", rule, len(prompt))
        if config.max_new_tokens > self.max_new_tokens:
            rule = f"must be at most {self.max_new_tokens} tokens on this page"
            raise ArgumentError("max_new_tokens", rule, config.max_new_tokens)

    def check_prompt_tokens(self, num_tokens: int, *, has_turns: bool) -> None:
        """Raise ArgumentError if a prompt, with the turns before it, has too many tokens."""
        if num_tokens > self.max_prompt_tokens:
            rule = f"must be at most {self.max_prompt_tokens:,} tokens"
            if has_turns:
                rule += " with what is asked now (Start anew asks without what was said before)"
            raise ArgumentError("turns" if has_turns else "prompt", rule, num_tokens)


USUAL = Limits()
PUBLIC = Limits(
    max_prompt_characters=1_000,
    max_prompt_tokens=400,
    max_new_tokens=128,
    max_run_seconds=30.0,
    max_places=4,
    max_places_of_session=3,
    may_fetch_model=False,
)
