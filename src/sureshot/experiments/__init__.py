"""Experiments that can be repeated by anyone: rows of JSON first, tables and figures from the rows."""
