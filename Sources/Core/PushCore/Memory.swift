extension UnsafeRawBufferPointer {
    /// No bytes, at an address that C functions accept.
    static var empty: UnsafeRawBufferPointer { ("" as StaticString).bytes }

    /// The start as C's `const unsigned char *`, never null.
    var bound: UnsafePointer<UInt8> {
        (baseAddress ?? UnsafeRawPointer(("" as StaticString).utf8Start)).assumingMemoryBound(to: UInt8.self)
    }
}

extension UnsafeMutableRawBufferPointer {
    /// The start as C's `unsigned char *`; null only if there are no bytes.
    var bound: UnsafeMutablePointer<UInt8>! { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension StaticString {
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount) }
}
