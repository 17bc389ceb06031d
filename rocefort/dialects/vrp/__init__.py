"""Huawei VRP8 and YunShan text, both ways: tree, parse, render, interpret, patch."""
