"""Pure mathematics on numbers and arrays. Knows nothing of data access or of the search loops."""
