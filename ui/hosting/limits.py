"""Limits of what one visitor may ask of the page: by default, and tighter ones for everyone.

Knows no Gradio and no model.
"""

from dataclasses import dataclass

from sbd_core.config import DecodeConfig
from sbd_core.errors import ArgumentError
from ui.decode.fair_queue import MAX_PLACES
from ui.decode.form import MAX_NEW_TOKENS, MAX_PROMPT_CHARACTERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one decode, except max_places: places in line that one address may hold, and
    max_places_of_session: of those, one tab or program.

    max_run_seconds: of wall-clock time. may_fetch_model: whether a visitor's browser may have the
    export of the model, to decode by itself; those of the bundled ones it always may.
    """

    max_prompt_characters: int = MAX_PROMPT_CHARACTERS
    max_prompt_tokens: int = 1_000
    max_new_tokens: int = MAX_NEW_TOKENS
    max_run_seconds: float = 300.0
    max_places: int = MAX_PLACES
    max_places_of_session: int = MAX_PLACES
    may_fetch_model: bool = True

    def check_config(self, prompt: str, config: DecodeConfig) -> None:
        """Raise ArgumentError for what is longer than allowed here, before any token is counted."""
        if len(prompt) > self.max_prompt_characters:
            rule = f"must be at most {self.max_prompt_characters:,} characters"
            raise ArgumentError("prompt", rule, len(prompt))
        if config.max_new_tokens > self.max_new_tokens:
            rule = f"must be at most {self.max_new_tokens} tokens on this page"
            raise ArgumentError("max_new_tokens", rule, config.max_new_tokens)

    def check_prompt_tokens(self, num_tokens: int, *, has_turns: bool) -> None:
        """Raise ArgumentError for a prompt of too many tokens, with what was said before it."""
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
