"""What changes where the page is open to everyone: limits, and GPUs that are lent."""
