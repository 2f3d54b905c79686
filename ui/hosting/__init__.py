"""Hosting of the page for strangers: limits, middleware, and GPUs that are lent."""
