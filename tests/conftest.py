"""How property tests look for cases: anew at every run, but the same ones where a run decides on a change."""

import os

from hypothesis import settings

settings.register_profile("exploring", deadline=None)
settings.register_profile("deciding", deadline=None, derandomize=True)
settings.load_profile("deciding" if os.environ.get("CI") else "exploring")
