"""Measuring accuracy and forward passes on held-out examples of the corpus."""
