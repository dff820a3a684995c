"""Where templates, examples and the app lie: beside the packages in a checkout, in ``slakit`` in a wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_BUNDLE = _PACKAGE / "_bundle"  # written into the wheel by hatch_build.py, absent from a checkout


def _root() -> Path:
    """Return the folder that holds templates, examples and the app."""
    return _BUNDLE if _BUNDLE.is_dir() else _PACKAGE.parent


def templates_dir() -> Path:
    """Return the folder of clauses, documents, positions, styles and fonts."""
    return _root() / "templates"


def examples_dir() -> Path:
    """Return the folder of example deals."""
    return _root() / "examples"


def app_file() -> Path:
    """Return the script that the browser app runs from."""
    return _root() / "app.py"
