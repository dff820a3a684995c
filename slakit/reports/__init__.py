"""What people are shown: figures, charts, the credit summary, the terminal."""
