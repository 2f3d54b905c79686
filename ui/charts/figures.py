"""Figures as Plotly.js takes them, each with what changes in a dark theme."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def two_themes(make: Callable[..., Any]) -> dict[str, Any]:
    """The figure that `make` draws for a theme, with its id and what changes on a dark page."""
    light, dark = (make(theme).to_plotly_json() for theme in THEMES)
    return {"id": light["layout"]["meta"]["id"], **light, "dark": changes(light, dark)}


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """What to set in `old` to get `new`, nested as they are; objects in a list by their index."""
    found = {}
    for key, value in new.items():
        before = old.get(key)
        if isinstance(value, list) and all(isinstance(item, dict) for item in value):
            value = {str(index): item for index, item in enumerate(value)}
            before = {str(index): item for index, item in enumerate(before or [])}
        if isinstance(value, dict) and isinstance(before, dict):
            value = changes(before, value)
            if value:
                found[key] = value
        elif value != before:
            found[key] = value
    return found
