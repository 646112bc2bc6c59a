import Foundation
import PushCore
import SealedPush
import TestSupport

/// A keyring's audit log, read by the rules of its description and by none of the library's code.
struct KeyringAudit {
    private(set) var events: [String] = []
    /// What is wrong with it.
    private(set) var faults: [String] = []

    init(of keyring: URL) throws {
        let text = (try? Checkout.text(keyring.appending(path: "audit.jsonl"))) ?? ""
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.popLast() != "" { faults.append("its last line has no end") }
        var hash = [UInt8](repeating: 0, count: 32)
        for line in lines {
            hash = BLAKE2b.hash(hash + Array(line.utf8), byteCount: 32)
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            events.append(object?["event"] as? String ?? "none")
        }
        let file = (try? Checkout.text(keyring.appending(path: "keyring.txt"))) ?? ""
        if !file.contains("\nlog-bytes: \(text.utf8.count)\nlog-hash: \(Hex.encode(hash))\n") {
            faults.append("keyring.txt does not say where it ends")
        }
    }
}
