"""A trace as the page shows it: the player's wire lines, and one HTML page that replays it."""
