"""Hosting for everyone: limits, middleware, and GPUs that are lent."""
