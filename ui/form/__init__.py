"""The form's components and initial values. Its rules are in ui.decode.form."""
