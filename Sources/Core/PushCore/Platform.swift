/// The system's C library, for all that import this module: its name is the one thing in it that differs everywhere.
#if canImport(Darwin)
    @_exported public import Darwin
#else
    @_exported public import Glibc
#endif
