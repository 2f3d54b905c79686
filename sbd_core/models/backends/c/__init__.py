"""The forward and the logit statistics of single short sequences in C, compiled at first use."""
