"""The race: one prompt decoded in several ways, and the board that compares them."""
