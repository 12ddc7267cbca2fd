"""Text that terminal, screens and report share: rows, numbers, words."""
