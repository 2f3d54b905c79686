"""A run taken home or brought along: as a link, a trace file, a page that replays it."""
