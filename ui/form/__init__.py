"""The form's components and first values. Its rules are in ui.decode.form."""
