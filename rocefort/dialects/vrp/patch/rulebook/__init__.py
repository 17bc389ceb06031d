"""Rulebook for annet, derived from the command catalogue.

`rules` makes one rule of each row: which lines overwrite each other, and how a line is undone.
`table` lists the rows that need a function of their own (`logic`). `huawei.order` is the order of
the commands in a patch.
"""
