"""Word problems of fixed calculations, told by facts in free order."""
