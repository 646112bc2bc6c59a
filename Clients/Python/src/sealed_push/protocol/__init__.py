"""The wire protocol, function by function, with the paragraphs of Docs/Specification.md.

For tests and for other implementers. These functions take and give raw bytes, check less than the package's own names, and
may change; servers use `sealed_push` itself.
"""
