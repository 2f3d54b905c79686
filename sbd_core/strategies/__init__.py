"""How an answer is decoded: one module a strategy, each a generator of StepEvents."""
