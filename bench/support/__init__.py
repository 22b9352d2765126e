"""What the benchmark scripts share: scratch, processes that surely end, tables, goals."""
