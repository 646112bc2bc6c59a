import Foundation
import PushSender

/// Times sealing and opening beside raw libsodium in one run. Prints each median, and the promised ratios.
@main struct Benchmarks {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        let ours = try SealedPushWork()
        if arguments.first == "--repeat" { return Self.repeat(Array(arguments.dropFirst()), ours) }
        let roundCount = arguments.first.flatMap { Int($0) } ?? 60
        let raw = try RawSodium()

        var stopwatch = Stopwatch()
        for round in 0..<roundCount {
            if round % 20 == 0 { Self.progress("round \(round) of \(roundCount)") }
            stopwatch.time("crypto_box_seal, 256 bytes", count: 60) { raw.sealBox() }
            stopwatch.time("seal, recipient seen", count: 600) { ours.sealForSeen() }
            stopwatch.time("seal, new recipient", count: 60) { ours.sealForNew() }
            stopwatch.time("crypto_box_seal_open, 256 bytes", count: 60) { raw.openBox() }
            stopwatch.time("open, no cached state", count: 60) { ours.open() }
            stopwatch.time("seal, hybrid recipient seen", count: 600) { ours.sealForSeenHybrid() }
            stopwatch.time("seal, new hybrid recipient", count: 60) { ours.sealForNewHybrid() }
            stopwatch.time("open, hybrid", count: 60) { ours.openHybrid() }
            stopwatch.time("ML-KEM-768 encapsulation", count: 60) { raw.encapsulate() }
            stopwatch.time("ML-KEM-768 decapsulation, from seed", count: 60) { raw.decapsulate() }
            stopwatch.time("X25519 base point", count: 60) { raw.multiplyBase() }
            stopwatch.time("X25519", count: 60) { raw.multiply() }
            stopwatch.time("HMAC-SHA-256, 96 bytes", count: 600) { raw.authenticate() }
            stopwatch.time("ChaCha20-Poly1305, 512 bytes", count: 600) { raw.encrypt() }
            stopwatch.time("BLAKE2b, keyed, 80 bytes", count: 600) { raw.hash() }
            stopwatch.time("16 random bytes", count: 600) { raw.random() }
            stopwatch.time("content as JSON, 256 bytes", count: 600) { ours.writeContent() }
            stopwatch.time("content from JSON, 256 bytes", count: 60) { ours.readContent() }
        }
        stopwatch.report()
        Self.reportRatios(stopwatch)
    }

    /// Does one kind of work this many times, for a tool that counts instructions: `--repeat OPERATION COUNT`.
    private static func `repeat`(_ arguments: [String], _ ours: SealedPushWork) {
        let works: [String: () -> Void] = [
            "seal-seen": ours.sealForSeen, "seal-new": ours.sealForNew, "open": ours.open,
            "seal-seen-hybrid": ours.sealForSeenHybrid, "seal-new-hybrid": ours.sealForNewHybrid,
            "open-hybrid": ours.openHybrid,
        ]
        guard arguments.count == 2, let work = works[arguments[0]], let count = Int(arguments[1]) else {
            fatalError("expected --repeat OPERATION COUNT; operations: \(works.keys.sorted())")
        }
        for _ in 0..<count { work() }
    }

    private static func reportRatios(_ stopwatch: Stopwatch) {
        let base = stopwatch.median("X25519 base point")
        let multiply = stopwatch.median("X25519")
        let hmac = stopwatch.median("HMAC-SHA-256, 96 bytes")
        let cipher = stopwatch.median("ChaCha20-Poly1305, 512 bytes")
        let hash = stopwatch.median("BLAKE2b, keyed, 80 bytes")
        let random = stopwatch.median("16 random bytes")
        print("")
        ratio(
            "crypto_box_seal / seal, recipient seen", stopwatch, "crypto_box_seal, 256 bytes", "seal, recipient seen",
            atLeast: 15)
        ratio(
            "seal, new recipient / crypto_box_seal", stopwatch, "seal, new recipient", "crypto_box_seal, 256 bytes",
            atMost: 1.6)
        ratio(
            "open / crypto_box_seal_open", stopwatch, "open, no cached state", "crypto_box_seal_open, 256 bytes",
            atMost: 2.3)
        print("")
        // The time that libsodium alone would take for the same work; the rest is JSON, base64url, memory, and bookkeeping.
        let encapsulation = stopwatch.median("ML-KEM-768 encapsulation")
        let decapsulation = stopwatch.median("ML-KEM-768 decapsulation, from seed")
        let seen = cipher + 2 * hash + random
        let new = seen + base + 2 * multiply + 5 * hmac
        let open = cipher + hash + 2 * multiply + 5 * hmac
        sum("seal, recipient seen", stopwatch.median("seal, recipient seen"), primitives: seen)
        sum("seal, new recipient", stopwatch.median("seal, new recipient"), primitives: new)
        sum("open, no cached state", stopwatch.median("open, no cached state"), primitives: open)
        sum("seal, hybrid recipient seen", stopwatch.median("seal, hybrid recipient seen"), primitives: seen)
        sum(
            "seal, new hybrid recipient", stopwatch.median("seal, new hybrid recipient"),
            primitives: new + encapsulation)
        sum("open, hybrid", stopwatch.median("open, hybrid"), primitives: open + decapsulation)
    }

    /// The median of the ratios per round, in which both are timed within milliseconds of each other.
    private static func ratio(
        _ name: String, _ stopwatch: Stopwatch, _ first: String, _ second: String, atLeast least: Double = 0,
        atMost most: Double = .infinity
    ) {
        let ratios = zip(stopwatch.rounds(first), stopwatch.rounds(second)).map { $0 / $1 }.sorted()
        let ratio = ratios[ratios.count / 2]
        let text = String(
            format: "%.2f (%.2f to %.2f)", ratio, ratios[ratios.count / 20],
            ratios[ratios.count - 1 - ratios.count / 20])
        let floor = least > 0 ? "at least \(least)" : "at most \(most)"
        let verdict = (least...most).contains(ratio) ? "" : ", missed"
        print("\(name.padding(toLength: 40, withPad: " ", startingAt: 0)) \(text)   floor: \(floor)\(verdict)")
    }

    private static func sum(_ name: String, _ whole: Double, primitives: Double) {
        let text = String(
            format: "%7.2f µs, primitives alone %7.2f µs, the rest %6.2f µs", whole, primitives, whole - primitives)
        print("\(name.padding(toLength: 40, withPad: " ", startingAt: 0)) \(text)")
    }

    private static func progress(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}
