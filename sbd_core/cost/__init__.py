"""What a forward pass costs: the sizes of a model, operations and bytes from them; devices."""
