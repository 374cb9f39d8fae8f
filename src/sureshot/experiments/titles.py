"""What the methods are called in figures and tables."""

from __future__ import annotations

TITLES = {
    "betting": "betting",
    "betting, scanned": "betting, scanned",
    "betting, budget": "betting with a budget",
    "betting, scanned, budget": "betting with a budget, scanned",
    "BoundedME": "BoundedME, true range",
    "BoundedME, R = 1": "BoundedME, R = 1",
    "BoundedME, R = 1, columns": "BoundedME, R = 1, by columns",
    "ExactMIPS": "exact product",
    "GreedyMIPS": "Greedy-MIPS",
    "LSHMIPS": "LSH-MIPS",
    "PCAMIPS": "PCA-MIPS",
    "RPTMIPS": "RPT-MIPS",
    "SampleMIPS": "Sample-MIPS",
    "DiamondMSIPS": "Diamond-MSIPS",
    "KMeansMIPS": "k-means MIPS",
    "FaissFlat": "faiss, flat",
    "FaissIVF": "faiss, IVF",
    "FaissHNSW": "faiss, HNSW",
    "Hnswlib": "hnswlib",
    "Usearch": "usearch",
}
