"""What every part uses."""
