"""The views of the page, one file each."""
