"""Matrices that are kept elsewhere than in memory: what they cost to read, and how they are read."""
