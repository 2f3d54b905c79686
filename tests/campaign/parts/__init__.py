"""The parts of the campaign, one a file: each gives its figures."""
