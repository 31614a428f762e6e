"""A study: a table and a figure of any set of lines and values, with intervals."""
