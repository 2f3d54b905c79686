"""What scripts.measure_page measures."""
