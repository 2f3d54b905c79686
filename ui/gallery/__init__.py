"""The recorded runs: the one the page opens on, and the gallery."""
