"""Rulebook for annet, derived from the command catalogue: keys, undo forms, order of a patch.

`rules` makes one rule of each row of the catalogue: which lines overwrite each other, and by which
`undo` a line goes. `table` names the rows of which more must be known than their own line, each
with its function in `logic`. `huawei.order` says in which order a switch is told.
"""
