"""The paper's experiments, as ``sureshot reproduce`` repeats them: rows first, then tables and figures.

`reproduce` puts them together. `rows`, `clock`, `answers` and `metrics` serve every other measurement, too.
"""
