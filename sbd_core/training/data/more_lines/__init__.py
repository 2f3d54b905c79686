"""More lines with blanks, for training alone."""

from sbd_core.training.data.more_lines.lines import generate as generate
