import EndToEnd
import Foundation

// Sends messages end to end under every kind of failure, and counts those that the devices showed.
// Usage: soak [MESSAGES [DEVICES]]   It starts itself as the sender: soak sender FOLDER [ANSWERS]
// Environment variables: SEED repeats a run's random choices, KILLS sets how often the sender
// is killed, and KEEP=1 keeps the run's files.
if CommandLine.arguments.count > 2, CommandLine.arguments[1] == "sender" {
    try await runSender(Array(CommandLine.arguments.dropFirst(2)))
    exit(0)
}
let numbers = CommandLine.arguments.dropFirst().map { Int($0) ?? 0 }
let environment = ProcessInfo.processInfo.environment
let seed = environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64(UInt32.max))
guard numbers.count <= 2, numbers.allSatisfy({ $0 > 0 }) else {
    say("Usage: soak [MESSAGES [DEVICES]]")
    exit(64)
}
var plan = RunPlan(
    messageCount: numbers.first ?? 100_000, deviceCount: numbers.count > 1 ? numbers[1] : 1_000,
    killCount: environment["KILLS"].flatMap { Int($0) } ?? 10, seed: seed)
// The outbox's full page caches, the only memory that grew: 16 MB for its writer and 4 MB for each of two readers. The last
// sender handles 40% of the messages, so a leak of 600 bytes per message exceeds the limit.
plan.growthLimit = 24_000_000
plan.acceptedAgainLimit = plan.killCount * plan.patience.inFlightCount + plan.messageCount / 100
let folder = RunFolder(
    .temporaryDirectory.appending(path: "sealed-push-soak-\(UUID().uuidString)"),
    stateByteCount: 20_000 * plan.messageCount)
try FileManager.default.createDirectory(
    at: folder.url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
say("\(plan.messageCount) messages to \(plan.deviceCount) devices, SEED=\(seed)")

let run = try EndToEndRun(plan, in: folder) { progress in
    let seconds = progress.elapsed.components.seconds
    say(
        "\(seconds) s: \(progress.pushCount) sent, \(progress.shownCount) shown, killed \(progress.killCount) times; memory: sender "
            + "\(megabytes(progress.senderByteCount)), local APNs \(megabytes(progress.serverByteCount)), "
            + "devices \(megabytes(progress.devicesByteCount))")
}
do {
    try run.run()
} catch {
    say("The run failed: \(error)\nIts files are in \(folder.url.path(percentEncoded: false))")
    exit(1)
}
let outcome = run.outcome
say(Summary(outcome, plan).text)
if outcome.isGood, environment["KEEP"] == nil {
    folder.remove()
} else {
    say("The run's files are in \(folder.url.path(percentEncoded: false))")
}
exit(outcome.isGood ? 0 : 1)
