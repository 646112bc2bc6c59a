package import Foundation
internal import Glibc
import PushCore
internal import SealedPush

/// Searches files byte by byte for words in every form in which a program might write them.
package struct PlaintextSearch: Sendable {
    private var needles: [(word: String, form: String, bytes: [UInt8])] = []
    /// Whether a needle begins with two given bytes, which are the index.
    private var beginnings = [Bool](repeating: false, count: 65_536)

    package struct Finding: Hashable, Sendable, CustomStringConvertible {
        package let word: String
        package let form: String
        package let file: String
        package var description: String { "\"\(word)\" (\(form)) in \(file)" }
    }

    package init(for words: [String]) {
        for word in words {
            for (form, bytes) in Self.forms(of: word) where bytes.count >= 4 {
                needles.append((word, form, bytes))
                beginnings[Int(bytes[0]) << 8 | Int(bytes[1])] = true
            }
        }
    }

    /// Returns the forms to search for, each once.
    package static func forms(of word: String) -> [String: [UInt8]] {
        let utf8 = Array(word.utf8)
        var forms = [
            "as it is": utf8, "UTF-16, little endian": word.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] },
            "UTF-16, big endian": word.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] },
            "hexadecimal": Array(Hex.encode(utf8).utf8),
            "hexadecimal in capitals": Array(Hex.encode(utf8).uppercased().utf8),
            "percent-encoded": percentEncoded(utf8, capitals: true),
            "percent-encoded in small letters": percentEncoded(utf8, capitals: false),
            "escaped as in JSON": escaped(word.utf16.map { UInt32($0) }) { "\\u" + padded(String($0, radix: 16)) },
            "escaped as in Swift": escaped(word.unicodeScalars.map { $0.value }) {
                "\\u{" + String($0, radix: 16, uppercase: true) + "}"
            },
        ]
        for shift in 0..<3 {
            // Drop the characters at both ends, which depend on the neighboring bytes.
            let text = Data(repeating: 0, count: shift).appending(utf8).base64EncodedString()
            let core = text.prefix { $0 != "=" }.dropFirst(shift == 0 ? 0 : shift + 1).dropLast()
            forms["base64, \(shift) bytes in"] = Array(core.utf8)
            forms["base64url, \(shift) bytes in"] = core.utf8.map {
                $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
            }
        }
        return forms
    }

    /// Returns the findings in a file, each form once, and the file's size.
    package func search(_ file: URL) throws -> (findings: Set<Finding>, byteCount: Int) {
        let descriptor = open(file.path(percentEncoded: false), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CocoaError(.fileReadNoSuchFile) }
        defer { close(descriptor) }
        let longest = needles.map { $0.bytes.count }.max() ?? 0
        var buffer = [UInt8](repeating: 0, count: Self.chunkByteCount + longest)
        var kept = 0
        var total = 0
        var findings: Set<Finding> = []
        while true {
            let count = buffer.withUnsafeMutableBytes { bytes in
                read(descriptor, bytes.baseAddress.map { $0 + kept }, Self.chunkByteCount)
            }
            guard count >= 0 else { throw CocoaError(.fileReadUnknown) }
            guard count > 0 else { return (findings, total) }
            total += count
            let end = kept + count
            buffer.withUnsafeBufferPointer { search(UnsafeBufferPointer(rebasing: $0[..<end]), file, &findings) }
            // A word that spans two chunks is found in the second.
            kept = min(longest, end)
            for index in 0..<kept { buffer[index] = buffer[end - kept + index] }
        }
    }

    private func search(_ bytes: UnsafeBufferPointer<UInt8>, _ file: URL, _ findings: inout Set<Finding>) {
        guard bytes.count >= 2 else { return }
        beginnings.withUnsafeBufferPointer { beginnings in
            var index = 0
            while index < bytes.count - 1 {
                if beginnings[Int(bytes[index]) << 8 | Int(bytes[index + 1])] {
                    for needle in needles where Self.stands(needle.bytes, at: index, in: bytes) {
                        findings.insert(Finding(word: needle.word, form: needle.form, file: file.lastPathComponent))
                    }
                }
                index += 1
            }
        }
    }

    private static func stands(_ needle: [UInt8], at index: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard index + needle.count <= bytes.count, let start = bytes.baseAddress else { return false }
        return memcmp(start + index, needle, needle.count) == 0
    }

    private static func percentEncoded(_ bytes: [UInt8], capitals: Bool) -> [UInt8] {
        bytes.flatMap { byte -> [UInt8] in
            let isPlain = byte < 0x80 && (Character(UnicodeScalar(byte)).isLetter || byte == UInt8(ascii: "-"))
            if isPlain { return [byte] }
            let digits = Hex.encode([byte])
            return Array(("%" + (capitals ? digits.uppercased() : digits)).utf8)
        }
    }

    private static func escaped(_ units: [UInt32], _ escape: (UInt32) -> String) -> [UInt8] {
        units.flatMap { $0 < 0x80 ? [UInt8($0)] : Array(escape($0).utf8) }
    }

    private static func padded(_ digits: String) -> String { String(repeating: "0", count: 4 - digits.count) + digits }

    private static let chunkByteCount = 1 << 20
}

extension Data { fileprivate func appending(_ bytes: [UInt8]) -> Data { self + bytes } }
