import Foundation

/// Values that several threads put together.
public final class Collected<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var values: [Value] = []

    public init() {}

    public func add(_ value: Value) { lock.withLock { values.append(value) } }

    public var all: [Value] { lock.withLock { values } }
}
