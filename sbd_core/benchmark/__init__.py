"""Wall-clock comparison of our strategies with transformers' generate(), in one process."""
