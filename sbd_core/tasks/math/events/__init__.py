"""Settings of chains: what counts there are and what changes them."""
