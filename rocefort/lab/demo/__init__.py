"""`demo`: the whole way on emulated switches or a twin."""
