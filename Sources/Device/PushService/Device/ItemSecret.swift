internal import PushCore

/// A secret's bytes, in guarded memory that is wiped with the last reference; never printed.
package final class ItemSecret: Sendable, CustomStringConvertible {
    private let bytes: GuardedSecret

    /// - Parameter bytes: 1 to 65,536 bytes; the caller wipes its own copy.
    package init(copying bytes: UnsafeRawBufferPointer) {
        self.bytes = GuardedSecret(count: bytes.count) { $0.copyMemory(from: bytes) }
    }

    package func withBytes<Answer, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try bytes.withBytes(body)
    }

    package var description: String { "ItemSecret" }
}
