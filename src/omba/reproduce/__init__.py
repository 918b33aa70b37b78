"""Reproduce: each table and figure of the paper beside ours, and what the paper does not have."""
