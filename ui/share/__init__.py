"""Runs taken home or brought along: as a link, a trace file, or a page that replays it."""
