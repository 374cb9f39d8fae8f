"""The search in plain numpy: what the native ledger is compared with."""
