"""Settings of a training run: the recipe, the shipped recipes, the learning rate at a step."""
