"""The house itself: what may lie where, what may be imported when, and what travels in the wheel."""

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("schemas", "risk", "slakit")
FOLDERS = {*PACKAGES, "templates", "tests", "docs", "examples", "benchmarks"}
MADE_LOCALLY = {"out", "dist", "__pycache__"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text()
HEAVY = ("holidays", "numpy", "pandas", "polars", "scipy", "statsmodels", "weasyprint", "streamlit")

# The names are put together here, so that this file is no exception to its own rule.
INDEX_HOSTS = re.compile(
    "|".join(
        re.escape(".".join(parts))
        for parts in (
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("npmjs", "org"),
            ("npmjs", "com"),
            ("deb", "debian"),
        )
    )
)
MACHINE_PATHS = re.compile(r"(?<![\w.}-])/(?:home|root|work)/")


def text_files() -> Iterator[tuple[Path, str]]:
    """Yield every text file of the project with its content; caches and environments are not the project."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if f == ".ci" or not (f.startswith(".") or f in MADE_LOCALLY)]
        for name in names:
            path = Path(folder, name)
            content = path.read_bytes()
            if b"\0" not in content:
                yield path.relative_to(ROOT), content.decode(errors="replace")


def python_files(*folders: str) -> list[Path]:
    """Return the Python files under these top-level folders."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def locked_requirements() -> list[Requirement]:
    """Return the pins of the lock file, with their markers."""
    return [Requirement(line.rstrip(" \\")) for line in LOCK.splitlines() if re.match(r"[a-z0-9]", line)]


def test_the_lock_names_no_host_and_pins_every_file_by_hash():
    assert not re.search(r"https?://", LOCK)
    assert len(locked_requirements()) > 20
    for entry in re.split(r"\n(?=\S)", LOCK.strip()):
        assert "--hash=sha256:" in entry, entry.splitlines()[0]


def test_the_lock_fits_what_the_project_asks_for():
    asked = [
        *PROJECT["dependencies"],
        *(r for extra in PROJECT["optional-dependencies"].values() for r in extra),
    ]
    pins = locked_requirements()
    for requirement in map(Requirement, asked):
        found = [pin for pin in pins if canonicalize_name(pin.name) == canonicalize_name(requirement.name)]
        assert found, f"{requirement.name} is not in requirements.lock; run `make lock`"
        for pin in found:
            version = str(pin.specifier).removeprefix("==")
            assert requirement.specifier.contains(version), f"{pin} is not {requirement}; run `make lock`"


def test_no_file_names_a_package_index_or_a_machine():
    read = 0
    for path, text in text_files():
        read += 1
        assert not INDEX_HOSTS.search(text), f"{path} names a package index"
        assert not MACHINE_PATHS.search(text), f"{path} names a folder of one machine"
    assert read > 30


def test_top_level_folders_are_the_permitted_ones():
    found = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
    assert found - MADE_LOCALLY <= FOLDERS


def test_modules_are_named_after_what_they_hold():
    shapeless = {"utils", "util", "helpers", "helper", "common", "misc"}
    assert not [path for path in python_files(*PACKAGES) if {path.stem, path.parent.name} & shapeless]


def test_test_folders_are_no_packages():
    assert not list((ROOT / "tests").rglob("__init__.py"))


def test_no_package_imports_the_app():
    for path in python_files(*PACKAGES):
        for node in ast.walk(ast.parse(path.read_bytes())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            assert not any(name.split(".")[0] == "app" for name in names), f"{path}:{node.lineno} imports the app"


def test_the_ci_script_can_run_and_runs_the_tests():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text().splitlines()


def test_the_changelog_has_the_version_being_built():
    assert f"## [{PROJECT['version']}]" in (ROOT / "CHANGELOG.md").read_text()


def test_help_imports_nothing_heavy():
    script = (
        "import sys; from slakit.cli.main import main; sys.argv = ['slakit', '--help']\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        f"print('imported:', *[name for name in {HEAVY!r} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    *page, imported = run.stdout.splitlines()
    assert any("draft" in line for line in page)
    assert imported.split() == ["imported:"]


@pytest.fixture(scope="module")
def unpacked_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and return a folder that holds what an installation of it would."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    run = subprocess.run(build, cwd=ROOT, check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    (wheel,) = folder.glob("slakit-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run_from(site: Path, cwd: Path, *arguments: str) -> str:
    """Run Python away from the checkout with the unpacked wheel in front, and return what it prints."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    run = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_the_wheel_carries_types_templates_examples_and_app(unpacked_wheel: Path):
    for package in PACKAGES:
        assert (unpacked_wheel / package / "py.typed").is_file()
    bundle = unpacked_wheel / "slakit" / "_bundle"
    folders = [ROOT / "templates", ROOT / "examples"]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    wanted = {path.relative_to(ROOT) for path in files if "__pycache__" not in path.parts}
    wanted |= {Path("app.py"), Path(".streamlit/config.toml")}
    assert {path.relative_to(bundle) for path in bundle.rglob("*") if path.is_file()} == wanted
    assert (bundle / "app.py").read_bytes() == (ROOT / "app.py").read_bytes()


def test_the_wheel_carries_nothing_else(unpacked_wheel: Path):
    assert {p.name for p in unpacked_wheel.iterdir()} == {*PACKAGES, f"slakit-{PROJECT['version']}.dist-info"}
    data = {p.relative_to(ROOT) for package in PACKAGES for p in (ROOT / package).rglob("*.*") if p.is_file()}
    data = {p for p in data if "__pycache__" not in p.parts}
    assert {p for p in data if not (unpacked_wheel / p).is_file()} == set()


def test_an_installed_wheel_finds_its_own_files(unpacked_wheel: Path, tmp_path: Path):
    show = "from slakit.paths import *; print(templates_dir(), examples_dir(), app_file(), sep='\\n')"
    found = [Path(line) for line in run_from(unpacked_wheel, tmp_path, "-c", show).splitlines()]
    assert [path.name for path in found] == ["templates", "examples", "app.py"]
    for path in found:
        assert path.exists()
        assert path.is_relative_to(unpacked_wheel)


def test_a_checkout_finds_its_own_files():
    from slakit import paths

    assert paths.templates_dir() == ROOT / "templates"
    assert paths.examples_dir() == ROOT / "examples"
    assert paths.app_file() == ROOT / "app.py"


def test_an_installed_wheel_drafts_and_scores(unpacked_wheel: Path, tmp_path: Path):
    deal = str(unpacked_wheel / "slakit/_bundle/examples/startup-1024-h100.yaml")
    slakit = ("-c", "from slakit.cli.main import main; main()")
    run_from(unpacked_wheel, tmp_path, *slakit, "draft", deal, "-o", "out")
    run_from(unpacked_wheel, tmp_path, *slakit, "score", deal, "--draws", "500", "--save-json", "score.json")
    assert list((tmp_path / "out").glob("*.pdf"))
    assert (tmp_path / "score.json").stat().st_size > 100
