"""From a file a person wrote to plain data with the place of every value, and every problem at once."""
