"""The charts of a run: facts of its Trace, how they look, the figures."""
