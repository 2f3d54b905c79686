"""Decoding of an answer: the public stream() and generate(), the strategies, what they share."""
