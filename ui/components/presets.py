"""Prompts to start from, a button for each kind of text; pressing again gives another one."""

import json
from dataclasses import dataclass
from functools import cache

from ui.components.assets import ASSETS


@dataclass(frozen=True, slots=True)
class Preset:
    """A kind of text and its held-out prompts."""

    label: str
    prompts: tuple[str, ...]

    @property
    def next_prompt_script(self) -> str:
        """JavaScript: the prompt after the one shown, the first if another text is shown."""
        prompts = json.dumps(self.prompts).replace("<", "\\u003c")
        return f"(shown) => {{ const all = {prompts};" + (
            " return all[(all.indexOf(shown) + 1) % all.length]; }"
        )


@cache
def presets() -> tuple[Preset, ...]:
    """All presets, in the order of the page."""
    data = json.loads((ASSETS / "presets.json").read_text(encoding="utf-8"))
    return tuple(Preset(item["label"], tuple(item["prompts"])) for item in data)
