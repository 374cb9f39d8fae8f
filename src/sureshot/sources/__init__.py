"""Where rewards come from. A source knows data and query, never epsilon or delta."""
