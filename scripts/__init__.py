"""Commands that write committed files, the static site or figures; sbd_core and ui need none."""
