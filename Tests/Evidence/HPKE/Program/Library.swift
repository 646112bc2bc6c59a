import Foundation
import PushCore

/// An HPKE library in one mode. Each call creates a new context.
protocol Library {
    associatedtype Bytes: RangeReplaceableCollection<UInt8>

    func seal() throws -> (enc: Bytes, ciphertext: Bytes)
    func open(_ enc: Bytes, _ ciphertext: Bytes) throws -> Bytes
}

/// The message isn't authentic.
struct Refused: Error {}

/// Answers each line of input with a line of output.
func answer(with library: some Library) throws {
    say("ready")
    while let line = readLine() {
        let fields = line.split(separator: " ")
        switch fields.first {
        case "seal":
            let message = try library.seal()
            say("\(hex(message.enc)) \(hex(message.ciphertext))")
        case "open" where fields.count == 3:
            guard let enc = Hex.decode(fields[1]), let ciphertext = Hex.decode(fields[2]) else { exit(64) }
            say((try? hex(opened(enc, ciphertext, by: library))) ?? "refused")
        case "time" where fields.count == 2:
            guard let count = Int(fields[1]) else { exit(64) }
            let message = try library.seal()
            let sealing = try average(count) { _ = try library.seal() }
            let opening = try average(count) { _ = try library.open(message.enc, message.ciphertext) }
            say("\(sealing) \(opening)")
        default: exit(64)
        }
    }
}

private func opened<HPKE: Library>(_ enc: [UInt8], _ ciphertext: [UInt8], by library: HPKE) throws -> HPKE.Bytes {
    try library.open(HPKE.Bytes(enc), HPKE.Bytes(ciphertext))
}

/// Returns the average CPU time of `count` calls, in microseconds.
private func average(_ count: Int, _ work: () throws -> Void) rethrows -> Double {
    func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e6 + Double(time.tv_nsec) / 1e3
    }
    let start = now()
    for _ in 0..<count { try work() }
    return (now() - start) / Double(count)
}

private func hex(_ bytes: some RangeReplaceableCollection<UInt8>) -> String { Hex.encode(Array(bytes)) }

private func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
