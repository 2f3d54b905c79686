"""What a run leaves and goes on from: model folders, saved state, where it all came from."""
