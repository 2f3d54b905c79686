"""A recorded run as one HTML file that plays anywhere, offline, with nothing beside it."""

from ui.components.assets import PLAYER_SCRIPTS, STYLES, markup, scripts


def standalone_html(lines: str) -> str:
    """The player with wire `lines` (see view_model) inside; lines hold no `<`, so none escape."""
    styles = "\n".join(path.read_text(encoding="utf-8") for path in STYLES if path.stem != "page")
    page = markup("replay").replace("/*STYLES*/", styles)
    page = page.replace("/*SCRIPTS*/", scripts(*PLAYER_SCRIPTS, "standalone"))
    return page.replace("<!--LINES-->", lines)
