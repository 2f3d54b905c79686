"""What scripts.take_pictures photographs."""
