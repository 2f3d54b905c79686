"""How an answer is decoded: one module a strategy, and the public stream() and generate()."""
