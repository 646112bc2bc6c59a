import Dispatch

/// One libFuzzer input, consumed from the front.
public struct Input {
    /// The bytes that haven't been taken yet.
    public private(set) var rest: ArraySlice<UInt8>

    public init(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        rest = ArraySlice(UnsafeBufferPointer(start: start, count: count))
    }

    public var bytes: [UInt8] { Array(rest) }

    /// Returns the next byte, or 0 if none is left.
    public mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    public mutating func bool() -> Bool { byte() & 1 == 1 }

    /// Returns two bytes as a number below `limit`.
    public mutating func number(below limit: Int) -> Int {
        let high = Int(byte())
        return (high << 8 | Int(byte())) % limit
    }

    /// Returns eight bytes as a number.
    public mutating func word() -> UInt64 { (0..<8).reduce(0) { word, _ in word << 8 | UInt64(byte()) } }

    /// Returns this number of bytes, or as many as are left.
    public mutating func take(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Returns up to 255 bytes as text, repaired if they aren't UTF-8.
    public mutating func text() -> String { String(decoding: take(Int(byte())), as: UTF8.self) }
}

/// Stops the program with a sentence if a condition that must hold doesn't: libFuzzer then keeps the input.
///
/// Unlike a precondition's, its sentence is kept in a release build.
public func demand(_ isTrue: Bool, _ sentence: @autoclosure () -> String) {
    guard !isTrue else { return }
    fatalError(sentence())
}

public enum Hexadecimal {
    /// Returns the bytes of text that is known to be hexadecimal.
    public static func bytes(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Substring(text)
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { fatalError("not hexadecimal: \(text)") }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}

/// Returns the value of a call that succeeds whatever the input is.
public func required<Value>(_ value: () throws -> Value) -> Value {
    do { return try value() } catch { fatalError("a test's own key, record, or file is unusable: \(error)") }
}

/// Waits for `body` to end, since libFuzzer's call is over when this returns.
public func waiting<Answer: Sendable>(for body: @escaping @Sendable () async -> Answer) -> Answer {
    let isDone = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var answer: Answer?
    Task {
        answer = await body()
        isDone.signal()
    }
    isDone.wait()
    guard let answer else { fatalError("it ended without an answer") }
    return answer
}
