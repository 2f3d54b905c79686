"""The view that teaches Set Block Decoding in ten scenes on recorded runs. Needs no model."""
