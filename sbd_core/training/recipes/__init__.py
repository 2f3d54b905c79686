"""What a training run is asked: the recipe, the shipped files of it, the rate at a step."""
