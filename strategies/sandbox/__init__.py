"""Run commands that germline does not trust, confined.

What runs between germline and a command is started for each, and loads next to nothing: of the standard library
only what is light; `typing`, `enum`, `re` and what loads them took most of a start (measured). So each of its
modules sets `TYPE_CHECKING = False` itself, which type checkers read as theirs.
"""
