"""Cost of a forward pass: the sizes of a model, operations and bytes from them; devices."""
