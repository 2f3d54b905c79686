"""Decoding of an answer: one module a strategy, and the public stream() and generate()."""
