"""Commands that write committed files; nothing that a user runs imports them."""
