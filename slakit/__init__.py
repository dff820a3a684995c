"""What the user does with a deal file: draft, check, score."""
