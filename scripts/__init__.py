"""Commands that write committed files; nothing that users run imports them."""
