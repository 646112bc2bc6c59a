internal import Clibsodium

/// Comparisons whose time doesn't reveal where two values differ.
package enum ConstantTime {
    /// Whether two byte strings are equal. The time depends only on their lengths, which aren't secret.
    /// Source: libsodium, "Helpers", `sodium_memcmp`.
    package static func areEqual(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Bool {
        guard first.count == second.count else { return false }
        guard let left = first.baseAddress, let right = second.baseAddress else { return true }
        return sodium_memcmp(left, right, first.count) == 0
    }

    /// Whether two arrays contain the same bytes; see the other overload.
    package static func areEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
        first.withUnsafeBytes { left in second.withUnsafeBytes { right in areEqual(left, right) } }
    }
}
