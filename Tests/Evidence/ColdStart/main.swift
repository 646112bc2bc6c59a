import Foundation
import PushSimulator

// Measures an app's extension from the start of its process to the shown text, as Scripts/bench prints it. The extension runs in
// the simulator, in a new process for each message.
// Usage: cold-start ROUNDS
//        cold-start extension START SENDER FILE   that process: START is the time at which it was started, SENDER the
//          trusted key, and FILE the file for its costs
let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.count == 4, arguments[0] == "extension", let start = Double(arguments[1]) {
    let meter = CostMeter(since: start)
    ExtensionHost.run { MeteredService(trusting: arguments[2], meter, reportingTo: arguments[3]) }
}
guard arguments.count == 1, let roundCount = Int(arguments[0]), roundCount > 0 else { exit(64) }
try measureColdStarts(roundCount: roundCount)
