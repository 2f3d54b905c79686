"""The handwritten prompts: enough of each task, held by the checker, refused when malformed."""

import pytest

from sbd_core.errors import ArgumentError
from sbd_core.evaluation.tables import handwritten_prompts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        "[1]",
        '[{"family": "math", "prompt": "a"}]',
        '[{"family": "math", "prompt": "", "case": "1"}]',
        '[{"family": "math", "prompt": "a", "case": 1}]',
        '[{"family": "chess", "prompt": "a", "case": "1"}]',
        '[{"family": "math", "prompt": "a", "case": "1", "more": ""}]',
    ],
)
def test_a_malformed_file_is_refused_by_name(text: str, tmp_path) -> None:
    path = tmp_path / "own.json"
    path.write_text(text)
    with pytest.raises(ArgumentError):
        handwritten_prompts(path)
