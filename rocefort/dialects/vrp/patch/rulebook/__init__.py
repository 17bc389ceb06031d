"""Rulebook for annet, derived from the command catalogue.

`rules` derives one rule from each row: the lines that overwrite each other, and the undo of a line.
`table` lists the rows that need a function of their own (`logic`). `huawei.order` is the order of
the commands in a patch.
"""
