"""The comparators of the paper's table and the classifiers that a user would reach for today."""
