import Dispatch
import Foundation
import TestSupport

@testable import PushCore

/// Returns the bytes of hexadecimal digits, ignoring white space between them.
func bytes(hex text: String) -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }.map { UInt8($0.hexDigitValue!) }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// Returns `count` bytes that were 0xaa before `write` was called.
func output(_ count: Int, _ write: (UnsafeMutableRawBufferPointer) -> Void) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xaa, count: count)
    bytes.withUnsafeMutableBytes { write($0) }
    return bytes
}

extension X25519PrivateKey {
    func agree(_ point: X25519PublicKey) -> [UInt8] {
        withScalar { scalar in output(32) { X25519.agree(scalar, point, into: $0) } }
    }
}

extension WipedBytes {
    init(_ bytes: [UInt8]) { self.init(count: bytes.count) { $0.copyBytes(from: bytes) } }

    var array: [UInt8] { withBytes { Array($0) } }
}

extension HPKEContext {
    func seal(_ plaintext: [UInt8], aad: [UInt8], _ number: HPKENumber) -> [UInt8] {
        output(plaintext.count + 16) { output in
            plaintext.withUnsafeBytes { plaintext in
                aad.withUnsafeBytes {
                    seal(plaintext, additionalData: $0, number: number, into: output)
                }
            }
        }
    }

    /// Returns nil if it doesn't open.
    func open(_ ciphertext: [UInt8], aad: [UInt8], _ number: HPKENumber) -> [UInt8]? {
        var isOpen = false
        let plaintext = output(max(0, ciphertext.count - 16)) { output in
            ciphertext.withUnsafeBytes { ciphertext in
                aad.withUnsafeBytes {
                    isOpen = open(ciphertext, additionalData: $0, number: number, into: output)
                }
            }
        }
        return isOpen ? plaintext : nil
    }
}

extension HPKENumber: ExpressibleByIntegerLiteral {
    public init(integerLiteral value: UInt64) { self.init(value) }

    init(_ bytes: [UInt8]) { self = bytes.withUnsafeBytes { HPKENumber($0) } }

    var bytes: [UInt8] { output(Self.byteCount) { write(into: $0) } }
}

/// Runs `body` on this many new threads, and waits for all of them. Dispatch would run them one after the other if its pool
/// is busy.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    for index in 0..<count {
        group.enter()
        Thread {
            body(index)
            group.leave()
        }.start()
    }
    group.wait()
}

/// A file of `name: value` lines in the folder Vectors. Each `sequence` line begins a new group.
struct VectorFile: Sendable {
    /// The values before the first `sequence`.
    let common: [String: String]
    let sequences: [[String: String]]

    init(named name: String) throws {
        let folder = Bundle.module.resourceURL!.appending(path: "Vectors")
        let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        var groups: [[String: String]] = [[:]]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if parts[0] == "sequence" { groups.append([:]) }
            groups[groups.count - 1][parts[0]] = parts[1]
        }
        common = groups[0]
        sequences = Array(groups.dropFirst())
    }

    func bytes(_ name: String) -> [UInt8] { PushCoreTests.bytes(hex: common[name]!) }
}
