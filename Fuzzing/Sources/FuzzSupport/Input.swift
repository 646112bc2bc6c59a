import Dispatch

/// One input of libFuzzer's, taken from the front.
public struct Input {
    /// What has not been taken yet.
    public private(set) var rest: ArraySlice<UInt8>

    public init(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        rest = ArraySlice(UnsafeBufferPointer(start: start, count: count))
    }

    public var bytes: [UInt8] { Array(rest) }

    /// The next byte; 0 where there is none left.
    public mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

    public mutating func bool() -> Bool { byte() & 1 == 1 }

    /// Two bytes as a number below `limit`.
    public mutating func number(below limit: Int) -> Int {
        let high = Int(byte())
        return (high << 8 | Int(byte())) % limit
    }

    /// Eight bytes.
    public mutating func word() -> UInt64 { (0..<8).reduce(0) { word, _ in word << 8 | UInt64(byte()) } }

    /// So many bytes, or what is left.
    public mutating func take(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Up to 255 bytes as text, repaired where they are no UTF-8.
    public mutating func text() -> String { String(decoding: take(Int(byte())), as: UTF8.self) }
}

/// Stops the program with a sentence where something that must hold does not: libFuzzer then keeps the input.
///
/// A release build drops the sentence of a precondition, but not this one.
public func demand(_ isTrue: Bool, _ sentence: @autoclosure () -> String) {
    guard !isTrue else { return }
    fatalError(sentence())
}

public enum Hexadecimal {
    /// The bytes of text that is known to be hexadecimal.
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

/// What a call gives that succeeds whatever the input is.
public func required<Value>(_ value: () throws -> Value) -> Value {
    do { return try value() } catch { fatalError("a test's own key, record or file is unusable: \(error)") }
}

/// Runs this to its end: libFuzzer's call is over when it returns.
public func waiting<Answer: Sendable>(for body: @escaping @Sendable () async -> Answer) -> Answer {
    let isDone = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var answer: Answer?
    Task {
        answer = await body()
        isDone.signal()
    }
    isDone.wait()
    guard let answer else { fatalError("it has ended without an answer") }
    return answer
}
