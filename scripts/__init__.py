"""Commands that write committed files, the static site or figures; the package needs none."""
