"""The questions that models are asked, one module for each."""
