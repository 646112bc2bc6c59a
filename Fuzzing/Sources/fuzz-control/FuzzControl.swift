import FuzzSupport

@testable import SimulatedAPNs

/// What a local APNs reads by itself: requests to its control endpoint, and the payloads of pushes. A GET changes nothing;
/// each whole request gets one answer, in JSON; a payload is read exactly where it is an object of RFC 8259.
///
/// The input's first byte: a connection's bytes, a command, or a payload.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzControl(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    RepeatableRandom.restart()
    var input = Input(start, count)
    switch input.byte() % 3 {
    case 0: checkConnection(input.bytes)
    case 1: checkCommand(&input)
    default: checkPayload(input.bytes)
    }
    return 0
}

private func checkConnection(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    // It would end this program.
    guard !text.contains("/shutdown") else { return }
    let server = ControlServer()
    _ = server.answers(to: bytes)
    let writes = ["PUT", "POST"].contains { text.contains($0) }
    demand(writes || server.isUntouched, "what is no PUT and no POST changes something")
}

private func checkCommand(_ input: inout Input) {
    let (method, path) = commands[Int(input.byte()) % commands.count]
    let body = input.bytes
    let server = ControlServer()
    let head = """
        \(method) \(path) HTTP/1.1\r\nHost: localhost\r
        Content-Length: \(body.count)\r\n\r\n
        """
    let answers = server.answers(to: Array(head.utf8) + body)
    demand(answers.count == 1, "\(answers.count) answers to one request")
    demand(method != "GET" || server.isUntouched, "a GET changes something")
}

private func checkPayload(_ bytes: [UInt8]) {
    let outline = bytes.withUnsafeBufferPointer { PayloadOutline(scanning: $0) }
    let rule = JSONRule(bytes)
    demand(outline != nil || !rule.isObject, "an object is refused")
    guard let outline else { return }
    for (name, value) in outline.members {
        demand(name.upperBound < value.lowerBound && value.upperBound < bytes.count, "a value before its name")
        let member = Array("{\"".utf8) + bytes[name] + Array("\":".utf8) + bytes[value] + Array("}".utf8)
        demand(!rule.isObject || JSONRule(member).isObject, "a member is cut elsewhere than where it ends")
    }
    demand(outline.hasAps == (outline.aps != nil), "aps is here and is not")
    for type in PushType.allCases { _ = outline.fits(type) }
}

private let commands: [(String, String)] = [
    ("PUT", "/faults"), ("POST", "/devices"), ("PUT", "/tokens/" + String(repeating: "01", count: 32)),
    ("POST", "/keys"), ("POST", "/goaway"), ("GET", "/status"), ("GET", "/faults"), ("GET", "/devices"),
    ("GET", "/keys"), ("PUT", "/tokens/"), ("DELETE", "/devices"),
]
