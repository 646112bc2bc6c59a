import Foundation
import Logging
import PushAPNs
import PushSender

/// Sends pushes over HTTP/2 to a server on this machine, and prints one line of figures.
///
/// Usage: push-benchmark PORT CERTIFICATE KEY TOKENS MODE AMOUNT CONCURRENCY
/// TOKENS is a file with one device token per line. MODE is one of these, and AMOUNT depends on it:
///   sealed    seal and send AMOUNT pushes to known recipients: pushes/s, CPU µs/push, not accepted
///   unsealed  the same, but sealed before the timing starts
///   new       the same as sealed, but each recipient is new
///   paced     AMOUNT pushes per second for ten seconds: median, 99th percentile, and maximum of the time from when each
///             was due to its answer, in ms; pushes/s; not accepted
///   good      for three seconds: pushes/s that were accepted; AMOUNT is ignored
///   bad       the same, beside one task that keeps sending to a token that the server rejects
@main struct PushBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 8, let port = Int(arguments[1]), let amount = Int(arguments[6]),
            let concurrency = Int(arguments[7])
        else {
            FileHandle.standardError.write(
                Data("usage: push-benchmark PORT CERTIFICATE KEY TOKENS MODE AMOUNT CONCURRENCY\n".utf8))
            exit(64)
        }
        let tokens = String(decoding: try file(arguments[4]), as: UTF8.self).split(separator: "\n").compactMap {
            DeviceToken(parsing: String($0))
        }
        let key = try ProviderKey(pem: file(arguments[3]), keyID: "ABCDE12345", teamID: "FGHIJ67890")
        var configuration = APNsConfiguration(
            endpoint: APNsEndpoint(host: "localhost", port: port), key: key,
            trustRoots: try TrustRoots(pem: file(arguments[2])))
        configuration.limits.connectionCount = 1
        let transport = try APNsTransport(
            configuration, logger: Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() })
        let load = Load(transport, tokens: tokens)

        // Creates the contexts and opens the connection.
        _ = try await load.closed(count: tokens.count * 20, concurrency: concurrency, sealing: .forSeen)
        switch arguments[5] {
        case "sealed": print(try await load.closed(count: amount, concurrency: concurrency, sealing: .forSeen))
        case "unsealed": print(try await load.closed(count: amount, concurrency: concurrency, sealing: .before))
        case "new": print(try await load.closed(count: amount, concurrency: concurrency, sealing: .forNew))
        case "paced": print(try await load.paced(rate: amount, seconds: 10))
        case "good": print(try await load.others(seconds: 3, concurrency: concurrency, besideBadToken: false))
        case "bad": print(try await load.others(seconds: 3, concurrency: concurrency, besideBadToken: true))
        default: exit(64)
        }
        await transport.shutDown()
    }

    private static func file(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}
