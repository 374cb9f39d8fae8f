"""Nearest neighbours beside scikit-learn's, from few features to many."""

from __future__ import annotations
