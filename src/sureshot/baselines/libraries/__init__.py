"""Today's libraries behind the contract of the baselines: faiss, hnswlib and usearch.

All of them copy the data into an index of float32. Rows that an index returns are ranked again exactly;
what it left out for rounding to float32 stays left out. None of them gives a guarantee, but for the
flat index, which compares everything. The functions `exact_top` of faiss and of usearch compare everything, too, without
an index and without a copy: speed is measured against them.
"""

from __future__ import annotations
