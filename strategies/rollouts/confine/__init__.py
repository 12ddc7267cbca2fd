"""What runs between germline and a command it does not trust, started anew for each: it loads next to nothing.

Of the standard library only what is light: `typing`, `enum`, `re` and what loads them took most of a start
(measured). So each module says `TYPE_CHECKING = False` itself, which the tools that check types read as theirs.
"""
