"""Put into the wheel what is not a package: the templates, the examples and the app."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLE = "slakit/_bundle"
"""Where slakit/paths.py looks when there is no checkout around it."""


class BundleHook(BuildHookInterface):  # type: ignore[type-arg]
    """Add the bundle to a wheel; an editable install reads the checkout instead and must hold no copy."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files that travel, unless the build is an editable one."""
        if version == "editable":
            return
        for name in (".streamlit/config.toml", "app.py", "examples", "templates"):
            build_data["force_include"][name] = f"{BUNDLE}/{name}"
