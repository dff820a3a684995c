"""Modules beside the tests that are no tests: they import each other by name, which only their users arrange."""

collect_ignore = ["random_deals.py", "replay_of_minutes.py", "replay_of_statements.py"]
