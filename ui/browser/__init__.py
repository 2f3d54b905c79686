"""Decoding in the visitor's own browser: what the page hands over for it."""
