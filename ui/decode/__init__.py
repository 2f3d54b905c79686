"""A visitor's decode: the form is checked, the turn awaited, the lanes run, the answers judged."""
