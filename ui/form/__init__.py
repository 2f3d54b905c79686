"""What the form starts from. Its rules are in ui.decode.form."""
