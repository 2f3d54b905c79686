"""What a command printed."""

import json


def last_line(capsys) -> dict:
    return json.loads(capsys.readouterr().out.splitlines()[-1])
