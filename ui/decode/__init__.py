"""Runs a visitor's decode: checks the form, waits in line, decodes lanes, judges answers."""
