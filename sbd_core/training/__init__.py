"""Training of the model: data, objective, loop and state. Nothing here runs on import."""
