import Foundation
import TestPrograms
import TestSupport
import Testing

@testable import SimulatedAPNs

/// A client of a control endpoint that uses curl.
struct ControlClient {
    let socket: String

    init(_ address: LocalAPNsAddress) { socket = address.control }

    struct Answer {
        let status: Int
        let text: String

        subscript(_ path: String...) -> Any? {
            var value: Any? = try? JSONSerialization.jsonObject(with: Data(text.utf8))
            for name in path { value = (value as? [String: Any])?[name] }
            return value
        }
    }

    func ask(_ method: String, _ path: String, _ body: String? = nil) throws -> Answer {
        var arguments = ["--silent", "--max-time", "600", "--request", method, "--write-out", "\n%{http_code}"]
        if let body { arguments += ["--data-binary", body] }
        let result = try Program(at: "/usr/bin/curl").run(
            arguments + ["--unix-socket", socket, "http://localhost\(path)"])
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
        return Answer(status: Int(lines.last ?? "") ?? 0, text: lines.dropLast().joined(separator: "\n"))
    }
}
