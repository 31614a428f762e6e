"""The figures, drawn from the tidy tables alone."""
