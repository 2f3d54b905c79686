"""What a forward pass costs: the sizes of a model, and operations and bytes from them."""
