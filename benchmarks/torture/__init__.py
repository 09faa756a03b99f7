"""Long trials of what docs/reliability.md promises; each returns rows (name, tried, lost, wrong)."""
