"""Searches of arrays that lie on a CUDA device."""
