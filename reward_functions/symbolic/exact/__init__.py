"""Exact arithmetic: rational numbers, and quotients of polynomials in named atoms."""
