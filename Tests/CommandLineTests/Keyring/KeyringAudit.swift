import Foundation
import PushCrypto
import SealedPush
import TestSupport
import _PushBase

/// A keyring's audit log, read by the rules of its description and by none of the library's code.
struct KeyringAudit {
    let events: [String]
    let commands: [String]
    /// What is wrong with it.
    private(set) var faults: [String] = []

    /// - Parameter fitsHead: whether `audit-head.txt` must name its last line.
    init(of keyring: URL, fitsHead: Bool = true) throws {
        let text = (try? Checkout.text(keyring.appending(path: "audit.jsonl"))) ?? ""
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.popLast() != "" { faults.append("its last line has no end") }
        var chain = [UInt8](repeating: 0, count: 32)
        var events: [String] = []
        var commands: [String] = []
        for (index, line) in lines.enumerated() {
            guard let cut = line.range(of: ",\"chain\":\"") else {
                faults.append("line \(index + 1) has no chain")
                continue
            }
            chain = BLAKE2b.hash(chain + Array(line[..<cut.lowerBound].utf8), byteCount: 32)
            if line[cut.upperBound...] != Hex.encode(chain) + "\"}" {
                faults.append("line \(index + 1) does not follow the one before it")
            }
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            events.append(object?["event"] as? String ?? "none")
            commands.append(object?["command"] as? String ?? "none")
        }
        self.events = events
        self.commands = commands
        guard fitsHead else { return }
        let head = (try? Checkout.text(keyring.appending(path: "audit-head.txt"))) ?? ""
        if !head.contains("count: \(events.count)\n") || !head.contains("chain: \(Hex.encode(chain))\n") {
            faults.append("audit-head.txt does not name the last line")
        }
    }
}
