"""Compiled kernels: small pure functions, arrays in and arrays out, one module per subject."""
