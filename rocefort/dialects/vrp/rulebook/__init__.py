"""Rulebook for annet: how CloudEngine lines overwrite, how they are undone, in which order.

`huawei.rul` says which lines share a key and how each is taken back, `huawei.order` in which order
a switch is told, `logic` what text cannot say. It stands alone: annet's own rulebook matches lines
by likeness, so an inherited rule can win over ours.
"""
