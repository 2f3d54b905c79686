# Written by sbd_core.hf.vendoring from sbd_core/version.py; change that file instead.
"""The version of this package, in one place."""

VERSION = "0.1.0"
