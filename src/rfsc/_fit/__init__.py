"""From rows to models: what happens in one call of fit."""
