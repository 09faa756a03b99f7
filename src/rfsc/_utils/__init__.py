"""Small things that every part uses."""
