import Foundation
import PushKeyring

/// Looks for secrets in whatever a program has let out: any 16 bytes in a row of any form that a secret may have.
struct SecretScan {
    static let windowByteCount = 16

    /// A form of a secret, as it would stand in a text or file.
    struct Form {
        let name: String
        let bytes: [UInt8]
    }

    private var windows: [Window: String] = [:]
    private(set) var secretCount = 0

    private struct Window: Hashable {
        let first: UInt64
        let second: UInt64

        init(_ bytes: UnsafeRawPointer) {
            first = bytes.loadUnaligned(as: UInt64.self)
            second = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        }
    }

    mutating func add(_ secret: [UInt8], text: String? = nil, name: String) {
        secretCount += 1
        for form in Self.forms(of: secret, text: text) {
            form.bytes.withUnsafeBytes { bytes in
                guard bytes.count >= Self.windowByteCount else { return }
                for start in 0...(bytes.count - Self.windowByteCount) {
                    windows[Window(bytes.baseAddress! + start)] = "\(name), \(form.name)"
                }
            }
        }
    }

    /// The first secret that is found, with its form; nil where there is none.
    func find(in output: Data) -> String? {
        output.withUnsafeBytes { bytes in
            guard bytes.count >= Self.windowByteCount else { return nil }
            var start = 0
            while start <= bytes.count - Self.windowByteCount {
                if let found = windows[Window(bytes.baseAddress! + start)] { return found }
                start += 1
            }
            return nil
        }
    }

    /// Raw, hexadecimal in both cases, Base64 and base64url at each alignment, and as a key's text in both cases.
    static func forms(of secret: [UInt8], text: String?) -> [Form] {
        let hex = secret.map { String(format: "%02x", $0) }.joined()
        var forms = [
            Form(name: "raw", bytes: secret), Form(name: "hex", bytes: Array(hex.utf8)),
            Form(name: "HEX", bytes: Array(hex.uppercased().utf8)),
        ]
        for offset in 0..<3 {
            let coded = Data([UInt8](repeating: 0, count: offset) + secret).base64EncodedString()
            // At both ends stand characters that depend on what is around the secret.
            let inner = String(coded.dropFirst(offset == 0 ? 0 : offset + 1).dropLast(4))
            let safe = inner.replacing("+", with: "-").replacing("/", with: "_")
            forms.append(Form(name: "Base64 at \(offset)", bytes: Array(inner.utf8)))
            forms.append(Form(name: "base64url at \(offset)", bytes: Array(safe.utf8)))
        }
        if let text {
            // The part behind the prefix; the prefix itself is no secret.
            let data = text.split(separator: "1", maxSplits: 1).last ?? ""
            forms.append(Form(name: "text", bytes: Array(data.uppercased().utf8)))
            forms.append(Form(name: "small text", bytes: Array(data.lowercased().utf8)))
        }
        return forms
    }

    /// Every secret key in the files of a keyring in the clear, and the keyring's own key.
    mutating func addSecrets(below folder: URL) throws {
        for file in FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil) ?? .init() {
            guard let file = file as? URL, let text = try? String(contentsOf: file, encoding: .utf8) else { continue }
            for word in text.split(whereSeparator: { " \n".contains($0) }) {
                guard word.contains("SECRET-KEY-1") || word.hasPrefix("PUSH-KEYRING-KEY-1") else { continue }
                add(Self.bytes(ofText: String(word)), text: String(word), name: file.lastPathComponent)
            }
        }
    }

    /// The 32 bytes of a key's text, by the alphabet of BIP 173.
    static func bytes(ofText text: String) -> [UInt8] {
        let alphabet = Array("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")
        var bytes: [UInt8] = []
        var bits = 0
        var bitCount = 0
        for character in text.split(separator: "1", maxSplits: 1).last ?? "" where bytes.count < 32 {
            bits = bits << 5 | (alphabet.firstIndex(of: character) ?? 0)
            bitCount += 5
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(bits >> bitCount & 0xff))
            }
        }
        return bytes
    }
}
