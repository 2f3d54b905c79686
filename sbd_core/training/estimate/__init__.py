"""How much memory a run will take, worked out without a weight and without a GPU."""
