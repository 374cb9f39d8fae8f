"""Pure mathematics on numbers and arrays, independent of data access and of the searches."""
