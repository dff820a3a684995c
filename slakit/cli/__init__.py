"""The commands of slakit."""
