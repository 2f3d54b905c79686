"""The code task: typed, documented, and scored by running it in a sandbox."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import pytest

from sbd_core.errors import SandboxError
from sbd_core.tasks import code_task as functions
from sbd_core.tasks import examples, sandbox
from sbd_core.tasks.base import Example


def check_each(jobs: Iterable[tuple[Example, str]]) -> list[bool]:
    """Two at a time, as most of it is waiting for processes."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda job: functions.check(*job), jobs))


def candidate_for(text: str, expected: list[object], inputs: list[object]) -> tuple[Example, str]:
    example = Example("code", "", "", repr((inputs, expected)))
    return example, text


def test_a_changed_function_fails() -> None:
    drawn = islice(examples(1, "train", ["code"]), 20)
    changed = [(e, e.answer.replace("return ", "return not ")) for e in drawn]
    assert not any(check_each(changed))


def hostile(target: Path) -> dict[str, str]:
    """Candidates that must fail; `target` is a file they try to leave."""
    body = "def solve(numbers):\n    "
    get_os = "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]"
    reach = f"{get_os}.__init__.__globals__"
    return {
        "loop": body + "while True: pass",
        "catching loop": body
        + "while True:\n        try: 1 / 0\n        except BaseException: pass",
        "memory": body + "return [0] * 10 ** 9",
        "big number": body + "return 9 ** 9 ** 9",
        "open": f"open({str(target)!r}, 'w').write('x')\n{body}return sum(numbers)",
        "import os": f"import os\nos.mkdir({str(target)!r})\n{body}return sum(numbers)",
        "reach os": f"{reach}['mkdir']({str(target)!r})\n{body}return sum(numbers)",
        "fork": f"{reach}['fork']()\n{body}return sum(numbers)",
        "shell": f"{reach}['system']('touch {target}')\n{body}return sum(numbers)",
        "exit": "raise SystemExit(0)",
        "quiet exit": f"{reach}['_exit'](0)",
        "kill": f"{reach}['kill'](0, 9)",
        "exception": body + "raise ValueError(numbers)",
        "nul": body + "return sum(numbers)\x00",
        "surrogate": body + "return sum(numbers) # \ud800",
        "bytes": body + "return sum(numbers) # \udcff\udcfe",
        "prints the answer": body + "print(6, 15, sep='\\n')",
        "prints megabytes": body + "print('6' * 10 ** 7)\n    return sum(numbers)",
        "prints for ever": body + "while True: print('6' * 10 ** 6)",
        "endless recursion": body + "return solve(numbers)",
        "endless dictionary": body + "d = {}\n    d[0] = d\n    return d",
        "prints as well": body + "print('6')\n    return sum(numbers)",
        "equal to all": "class A(int):\n    def __eq__(self, other): return True\n"
        + body + "return A()",
        "right but odd": "class A(int): pass\n" + body + "return A(sum(numbers))",
        "boolean": body + "return True",
        "float": body + "return float(sum(numbers))",
        "no function": "6",
        "no function by that name": "solve = 6",
        "empty": "",
        "long": body + "return sum(numbers)" + " " * 5000,
        "nested": body + "return " + "(" * 1900 + "1" + ")" * 1900,
    }  # fmt: skip


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can write, which pytest's own is not for `nobody`."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)


def test_hostile_code_fails_and_leaves_nothing(open_folder: Path) -> None:
    target = open_folder / "left"
    candidates = hostile(target)
    jobs = [candidate_for(text, [6, 15], [[1, 2, 3], [7, 8]]) for text in candidates.values()]
    verdicts = check_each(jobs)
    assert [name for name, passed in zip(candidates, verdicts, strict=True) if passed] == []
    assert list(open_folder.iterdir()) == []


def test_honest_code_of_another_shape_passes() -> None:
    text = (
        "import math\ndef solve(numbers):\n    total = 0\n    for n in numbers:\n"
        "        total += n\n    numbers.clear()\n    return total"
    )
    assert functions.check(*candidate_for(text, [6, 15], [[1, 2, 3], [7, 8]]))


def test_the_function_is_found_by_its_name_or_as_the_last_one() -> None:
    text = "def part(n):\n    return n\ndef whole(n):\n    return part(n) + 1"
    for name, is_right in (("whole", True), ("part", False), ("solve", False)):
        case = repr(([1, 2], [2, 3], name))
        assert functions.check(Example("code", "", "", case), text) is is_right
    assert functions.check(*candidate_for(text, [2, 3], [1, 2]))
    with_solve = f"def solve(n):\n    return n + 1\n{text.replace('+ 1', '+ 9')}"
    assert functions.check(*candidate_for(with_solve, [2, 3], [1, 2]))


def test_dictionaries_count_by_value_and_an_argument_may_be_several() -> None:
    text = "def solve(a, b):\n    return {b: [a], a: {}}"
    expected = [{"x": {}, "y": ["x"]}]
    assert functions.check(*candidate_for(text, expected, [("x", "y")]))
    assert not functions.check(*candidate_for(text, [{"x": {}, "y": ["y"]}], [("x", "y")]))


@pytest.fixture
def fresh_sandbox() -> Iterator[None]:
    """A sandbox not yet tried, before and after."""
    sandbox.require_sandbox.cache_clear()
    yield
    sandbox.require_sandbox.cache_clear()


@pytest.mark.usefixtures("fresh_sandbox")
def test_a_machine_that_refuses_a_limit_is_told_and_not_scored_as_wrong(monkeypatch) -> None:
    refusing = sandbox.CHILD.replace(
        'resource.setrlimit(getattr(resource, "RLIMIT_" + what), (limit, limit))',
        "if what == 'AS': raise ValueError('current limit exceeds maximum limit')",
    )
    assert refusing != sandbox.CHILD
    monkeypatch.setattr(sandbox, "CHILD", refusing)
    job = candidate_for("def solve(n):\n    return n", [1], [1])
    with pytest.raises(SandboxError, match="current limit exceeds maximum limit"):
        functions.check(*job)


@pytest.mark.usefixtures("fresh_sandbox")
def test_a_machine_without_processes_is_told_and_not_scored_as_wrong(monkeypatch) -> None:
    job = candidate_for("def solve(n):\n    return n", [1], [1])
    assert functions.check(*job)

    def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(sandbox.subprocess, "Popen", refuse)
    with pytest.raises(SandboxError, match="Resource temporarily unavailable"):
        functions.check(*job)
    sandbox.require_sandbox.cache_clear()
    with pytest.raises(SandboxError, match="Resource temporarily unavailable"):
        functions.check(*job)
