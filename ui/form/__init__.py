"""What the form starts from. Its markup is in ui.components, its rules are in ui.decode.form."""
