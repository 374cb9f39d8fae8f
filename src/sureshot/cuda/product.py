"""How the product of a batch of queries with all rows is cut up, what memory it takes, and how far it may be off."""

from __future__ import annotations

from typing import NamedTuple

from sureshot.cuda import rounding
from sureshot.cuda.layout import MERGE_BYTES, SLAB, TILE_ROWS, TILE_WARPS, product_bytes

# Parts of the columns, so that there are so many tiles of rows and parts.
FEWEST_TILES = 512
MOST_PARTS = 64

# The same of products of whole numbers: tiles have more rows, and parts are added up by the card's memory.
INTEGER_ROWS = 16 * TILE_WARPS
FEWEST_INTEGER_TILES = 1024
MOST_INTEGER_PARTS = 64
# Columns that are read together; a step has 32.
READ = 128


class Product(NamedTuple):
    """A product of up to 16 queries with all rows: in float32, or of whole numbers of 16 bits."""

    integers: bool
    padded: int  # columns with zeros after them
    parts: int
    steps: int
    share: float  # how far a float32 sum may be off, as a share of the norms
    kernels: dict[str, int]  # and their shared memory, in the order of their launches
    blocks_of_processor: int
    memory: dict[str, int]  # bytes of each query
    packed: int  # bytes of all queries together


def product_of(n_rows: int, width: int, itemsize: int, *, tops_known: bool) -> Product:
    """Return the product for such rows; whole numbers need to know the largest value of each row.

    Examples
    --------
    >>> product_of(20_000, 100_000, 2, tops_known=True).integers
    True
    >>> product_of(20_000, 100_000, 4, tops_known=True).parts
    2
    """
    if itemsize == 2 and tops_known:
        return _integer_product(n_rows, width)
    columns = SLAB[itemsize] // itemsize
    slabs = -(-width // columns)
    tiles = -(-n_rows // TILE_ROWS)
    parts = min(MOST_PARTS, slabs, max(1, -(-FEWEST_TILES // tiles)))
    part = -(-slabs // parts)
    in_a_warp = -(-part // TILE_WARPS) * columns
    return Product(
        integers=False,
        padded=slabs * columns,
        parts=parts,
        steps=0,
        share=rounding.product_share(in_a_warp, TILE_WARPS + parts),
        kernels={"narrow": 0, "multiply": product_bytes(itemsize), "screen": MERGE_BYTES},
        blocks_of_processor=1,
        memory={
            "narrowed": 4 * slabs * columns,
            "products": 4 * parts * n_rows if parts > 1 else 0,
        },
        packed=0,
    )


def skim_of(width: int, itemsize: int) -> Product:
    """Return the product of one query with many short rows, 8 or 32 lanes for each.

    Examples
    --------
    >>> skim_of(100, 4).share < skim_of(1000, 4).share < 1e-5
    True
    """
    chunk = rounding.CHUNK_BYTES // itemsize
    lanes = 8 if width <= 64 * chunk else 32
    terms = -(-width // (lanes * chunk)) * chunk
    padded = -(-(width + 40 * chunk) // 4) * 4  # two chunks of every lane may begin in the last one
    return Product(
        integers=False,
        padded=padded,
        parts=1,
        steps=0,
        share=rounding.product_share(terms, lanes.bit_length() - 1),
        kernels={"skim": 4 * padded, "screen": MERGE_BYTES},
        blocks_of_processor=2,
        memory={},
        packed=0,
    )


def _integer_product(n_rows: int, width: int) -> Product:
    reads = -(-width // READ)
    tiles = -(-n_rows // INTEGER_ROWS)
    parts = min(MOST_INTEGER_PARTS, reads, -(-FEWEST_INTEGER_TILES // tiles))
    parts = max(parts, -(-reads // (rounding.MOST_COLUMNS // READ)))
    return Product(
        integers=True,
        padded=reads * READ,
        parts=parts,
        steps=reads * READ // 32,
        share=0.0,
        kernels={"pack": 0, "multiply_integers": 0, "screen": MERGE_BYTES},
        blocks_of_processor=2,
        memory={"totals": 8 * n_rows if parts > 1 else 0},
        packed=32 * reads * READ,
    )
