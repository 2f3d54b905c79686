"""Wall-clock measurements of our strategies beside transformers generate(), in one process."""
