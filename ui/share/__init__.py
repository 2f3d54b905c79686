"""Ways to share a run: a link, a trace file, or an HTML page that replays the run."""
