"""Loads language models, tokenizes for them and makes their forward passes, behind one protocol."""
