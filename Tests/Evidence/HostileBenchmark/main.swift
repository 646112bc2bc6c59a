import Foundation
import HostilePeers

// Sends pushes to a good server, alternately alone and alongside hostile connections. Scripts/special/bench-hostile runs it
// as three processes. FOLDER has certificates, and the servers write their ports and totals to it.
// Usage: hostile-benchmark good|hostile FOLDER   one server that accepts, or one for each deed; runs until SIGTERM
//        hostile-benchmark client FOLDER SECONDS ROUNDS CONNECTIONS   with CONNECTIONS at once in each round
let arguments = CommandLine.arguments.dropFirst()
let numbers = arguments.dropFirst(2).compactMap { Int($0) }.filter { $0 > 0 }
guard arguments.count >= 2, let mode = arguments.first else { exit(64) }
let folder = URL(filePath: arguments[2])
switch mode {
case "good": try await Servers([nil], in: folder).run(sayingTo: "good")
case "hostile": try await Servers(HostileDeed.allCases, in: folder).run(sayingTo: "hostile")
case "client" where numbers.count == 3:
    let client = try Client(folder)
    exit(try await client.run(seconds: numbers[0], rounds: numbers[1], connections: numbers[2]) ? 0 : 2)
default: exit(64)
}
