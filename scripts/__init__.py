"""Commands that write committed files, the site or figures; sbd_core and ui never import them."""
