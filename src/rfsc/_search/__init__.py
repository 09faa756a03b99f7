"""The randomised search over supports."""
