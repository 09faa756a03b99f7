"""What happens to X and y before the search: targets, scaling, the distance-correlation test."""
