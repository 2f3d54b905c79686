"""Families of models that transformers reads only once their folders are told of otherwise."""
