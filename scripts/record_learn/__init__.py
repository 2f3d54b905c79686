"""Records the runs of the Learn view's scenes: python -m scripts.record_learn."""
