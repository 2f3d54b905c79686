"""Measuring wall-clock: our strategies beside transformers generate(), in one process."""
