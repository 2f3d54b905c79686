"""The package itself: its version, its optional parts, where its files are, how one is written."""
