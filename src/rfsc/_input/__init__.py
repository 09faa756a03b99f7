"""Tables from files: typed columns, and refusal of columns that no model should learn from."""
