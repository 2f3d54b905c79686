"""Decoding: the public stream() and generate(), the strategies, and the state that they share."""
