"""Checks what a user passes, in the order of the arguments, and returns frozen requests.

Nothing here starts a thread or reads the data. One file for each kind of argument:

- `arrays`: data, queries, the selected rows and their factors,
- `numbers`: integers and real numbers within limits,
- `choices`: strings that must be known,
- `bounds`: what is known of the data,
- `methods`: the method, and what it asks of budget, replacement and blocks,
- `calling`: how `best_arms` calls its function,
- `running`: seed, threads, progress,
- `request`: all of them together,
- `baseline`: what a baseline is made of, and what it is asked.
"""

from __future__ import annotations
