"""Tables from files, as they are: texts, blanks, columns that must not be learned from."""
