import Foundation
import HeldCalls
import PushCore
import PushService
import SealedPush

// A process that opens messages and purges in ledgers, for a test that steps it through its file calls, and kills it. Reads
// commands, one a line: `record FOLDER NOW MESSAGE SENT IDENTIFIER` or `purge FOLDER NOW`, with times in seconds.

func time(_ word: Substring) -> Timestamp { Timestamp(clamping: Int64(word) ?? 0) }

/// Returns the answer in a word.
func record(_ entry: LedgerEntry, in ledger: FileLedger, at now: Timestamp) -> String {
    do throws(LedgerError) {
        return switch try ledger.record(entry, at: now) {
        case .first: "shown"
        case .repeated: "repeated"
        }
    } catch { return error == .replayed ? "refused" : "unavailable" }
}

while let line = readLine() {
    let words = line.split(separator: " ")
    let (ledger, now) = (FileLedger(folder: URL(filePath: String(words[1]))), time(words[2]))
    held_calls_begin(String(words[1]))
    var answer = "purged"
    if words[0] == "record" {
        let key = BLAKE2b.hash(Array(words[3].utf8), byteCount: 32)
        let entry = LedgerEntry(key: key, sent: time(words[4]), requestIdentifier: String(words[5]))
        answer = record(entry, in: ledger, at: now)
    } else {
        ledger.purge(at: now)
    }
    FileHandle.standardOutput.write(Data("end \(answer)\n".utf8))
}
