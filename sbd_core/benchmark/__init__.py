"""Compares our strategies with transformers' generate() by wall clock, in one process."""
