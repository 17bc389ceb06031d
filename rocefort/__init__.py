"""Network-as-code for lossless RoCE fabrics on Huawei CloudEngine."""
