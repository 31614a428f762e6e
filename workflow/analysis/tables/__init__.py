"""The tables: each is made by a function of its name, which takes `(results, grid)`."""
