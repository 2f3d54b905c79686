"""Files of a training run: model folders, the saved state, and their provenance."""
