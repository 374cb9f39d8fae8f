"""The search loops, one file per algorithm, and the table of their names."""
