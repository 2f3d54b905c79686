"""Contents of an installation: the extras, the pinned sets beside them, the wheel."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from types import FunctionType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import sbd_core
from sbd_core.__main__ import COMMANDS
from sbd_core.cli import Command
from sbd_core.errors import EXTRAS, MissingExtraError, ModelError, require_extra
from sbd_core.models import loading
from tests.core.cli.commands import python, refusal

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
OPTIONAL = {
    extra: [Requirement(line) for line in lines]
    for extra, lines in PROJECT["optional-dependencies"].items()
}

HELD_APART = {"lm-eval", "vllm"}
"""Extras that neither `all` nor the pinned sets hold."""


def pinned(path: str) -> list[Requirement]:
    lines = (ROOT / path).read_text("utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def names_of(requirements) -> set[str]:
    return {canonicalize_name(one.name) for one in requirements} - {"sbd-core"}


def test_the_pinned_sets_hold_what_the_project_asks_for_and_nothing_else() -> None:
    ours = [Requirement(line) for line in PROJECT["dependencies"]]
    ours += [one for extra in {*EXTRAS} - HELD_APART for one in OPTIONAL[extra]]
    for path, wanted in (("requirements.txt", ours), ("tests/requirements.txt", OPTIONAL["dev"])):
        assert names_of(pinned(path)) == names_of(wanted)
        for pin in pinned(path):
            [version] = [re.fullmatch(r"==(\S+)", str(pin.specifier))[1]]
            ranges = [one.specifier for one in wanted if one.name == pin.name]
            assert all(version in allowed for allowed in ranges), pin


MODULES = {"markdown-it-py": "markdown-it"}
"""Packages of another name than their module."""


def test_the_extras_are_those_the_code_asks_for() -> None:
    assert set(OPTIONAL) == {*EXTRAS, "all", "dev"}
    for extra, packages in EXTRAS.items():
        modules = {MODULES.get(name, name) for name in names_of(OPTIONAL[extra])}
        assert modules == {canonicalize_name(name) for name in packages}
    [everything] = OPTIONAL["all"]
    assert everything.extras == set(EXTRAS) - HELD_APART
    assert {command.extra for command in COMMANDS.values()} <= {None, *EXTRAS}


@pytest.mark.parametrize(
    ("extra", "package", "words"),
    [
        ("train", "accelerate", ["train", "--stage", "sbd", "--out", "nowhere"]),
        ("eval", "tqdm", ["evaluate"]),
        ("eval", "tqdm", ["bench"]),
    ],
)
def test_a_missing_extra_is_one_line_with_the_command(extra, package, words, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, package, None)
    message = f'{package} is not installed: pip install "sbd-core[{extra}]"'
    assert refusal(capsys, words) == f"{message}\n"
    with pytest.raises(MissingExtraError) as caught:
        require_extra(extra)
    assert isinstance(caught.value, ImportError)


def test_the_page_without_gradio_says_what_to_install() -> None:
    code = "import sys; sys.modules['gradio'] = None; sys.argv = ['app.py']\n"
    code += "import app; sys.exit(app.main())"
    done = python(code, cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr == 'app.py: gradio is not installed: pip install "sbd-core[ui]"\n'


def test_an_installation_without_the_checkpoint_says_where_it_comes_from(monkeypatch, tmp_path):
    monkeypatch.setattr(loading, "DEFAULT_CHECKPOINT", tmp_path / "gone")
    with pytest.raises(ModelError, match="holds no checkpoint of its own"):
        sbd_core.load()


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory) -> Path:
    """The wheel, built and unpacked as pip would."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_wheel_holds_the_engine_its_data_and_the_checkpoint(unpacked) -> None:
    files = {path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*")}
    ours = [*(ROOT / "sbd_core").rglob("*"), *(ROOT / "assets" / "checkpoints").rglob("*")]
    paths = [file.relative_to(ROOT).as_posix() for file in ours if file.is_file()]
    expected = {
        re.sub("^assets/", "sbd_core/assets/", path) for path in paths if "__pycache__" not in path
    }
    assert len(expected) > 100
    assert expected <= files
    assert {path.split("/")[0] for path in files} == {
        "sbd_core",
        f"sbd_core-{sbd_core.__version__}.dist-info",
    }
    entry_points = next(unpacked.glob("*.dist-info/entry_points.txt")).read_text("utf-8")
    assert "sbd = sbd_core.__main__:main" in entry_points


def test_the_installed_package_decodes_with_its_own_checkpoint(unpacked, tmp_path, nano) -> None:
    prompt = "Tara has 49 pencils. Hugo takes 12. How many pencils does Tara have now?"
    code = (
        "import sys, sbd_core; from sbd_core.__main__ import main\n"
        f"assert sbd_core.__file__.startswith({str(unpacked)!r})\n"
        f"sys.exit(main(['generate', {prompt!r}, '--device', 'cpu']))"
    )
    env = {"PYTHONPATH": str(unpacked), "HF_HUB_OFFLINE": "1", "PATH": ""}
    done = python(code, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout == sbd_core.generate(nano, prompt, sbd_core.DecodeConfig()).text


BLOCKED = """
import importlib, json, sys

blocked, modules = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys(blocked))  # an import of them fails
for module in modules:
    importlib.import_module(module)
"""


def modules_of(command: Command) -> set[str]:
    """Names of the modules of sbd_core that a command's function, and those it calls, import."""
    functions, modules = [command.run], set[str]()
    for function in functions:  # grows
        for name in function.__code__.co_names:
            called = function.__globals__.get(name)
            if name.startswith("sbd_core"):
                modules.add(name)
            elif isinstance(called, FunctionType) and called not in functions:
                functions += [called] * (called.__module__ == command.run.__module__)
    return modules


@pytest.mark.parametrize("extra", sorted({command.extra or "" for command in COMMANDS.values()}))
def test_a_command_imports_nothing_of_an_extra_that_it_does_not_name(extra) -> None:
    """The commands without an extra are tried where every package is missing."""
    every = {name for names in EXTRAS.values() for name in names} | {"accelerate", "datasets"}
    every -= {"filelock", "tqdm"}  # huggingface_hub brings them
    kept = set(EXTRAS[extra]) if extra else set()
    for package in kept:
        pytest.importorskip(package, reason=f"{package} is not installed")
    own = [command for command in COMMANDS.values() if (command.extra or "") == extra]
    modules = {module for command in own for module in modules_of(command)}
    assert modules
    done = python(BLOCKED, json.dumps([sorted(every - kept), sorted(modules)]), cwd=ROOT)
    assert done.returncode == 0, done.stderr
