"""Masked, packed batches made of tasks and files."""
