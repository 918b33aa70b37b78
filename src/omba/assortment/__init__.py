"""Assortment: what products are to each other: variants of one thing, one instead of the other, one with the other.

It is given names, counts and customers' habits as arrays, never a model.
"""
