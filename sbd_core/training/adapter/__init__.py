"""Training of a block adapter: block states of a text, a step, and the run."""
