"""One visitor's decode: the form checked, the turn awaited, the lanes run and kept."""
