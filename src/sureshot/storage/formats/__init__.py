"""The formats that matrices are kept in, one module each: by path, and by the objects of their libraries."""
