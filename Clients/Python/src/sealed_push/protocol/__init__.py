"""The wire protocol, function by function, with references to Docs/Specification.md.

For tests and for people who implement the protocol. These functions work with raw bytes, check less than the package's public
names, and may change. Servers use `sealed_push` itself.
"""
