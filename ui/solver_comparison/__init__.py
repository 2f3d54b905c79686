"""One prompt under up to four solvers, as small staircases side by side."""
