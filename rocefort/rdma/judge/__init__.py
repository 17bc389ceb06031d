"""Judgement of RDMA results: expectations, regressions and slow components."""
