internal import CommandSupport
internal import Foundation
internal import Glibc
internal import PushCore
internal import SealedPush

/// The trial's service, as its back end calls it: over loopback, one request to a connection.
struct TrialServer: Sendable {
    let port: Int

    /// Returns the token of a login that lasts an hour. Returns nil if the service isn't there yet, or isn't the one that has this
    /// back end's token.
    func login(_ user: String, _ token: [UInt8]) async -> String? {
        let (status, body) = await answer("POST", "/v1/logins", token, #"{"user":"\#(user)","seconds":3600}"#)
        let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        return status == 200 ? object?["token"] as? String : nil
    }

    /// Sends a test, and returns whether there is a device that gets it: the user is unknown until a phone is enrolled, and the
    /// phone gets nothing until it has proven its keys.
    func test(_ user: String, _ token: [UInt8]) async -> Bool {
        let (status, body) = await answer("POST", "/v1/test", token, #"{"user":"\#(user)"}"#)
        let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]
        return status == 202 && (object?["enqueued"] as? Int ?? 0) > 0
    }

    private func answer(
        _ method: String, _ path: String, _ token: [UInt8]?, _ json: String
    ) async -> (status: Int, body: [UInt8]) {
        var request = Array("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n".utf8)
        defer { wipe(&request) }
        if let token { request += Array("Authorization: Bearer ".utf8) + token.trimmingSpace + Array("\r\n".utf8) }
        request += Array("Content-Type: application/json\r\nContent-Length: \(json.utf8.count)\r\n\r\n\(json)".utf8)
        guard let bytes = exchange(request), let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
            return (0, [])
        }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        return (Int(head.dropFirst("HTTP/1.1 ".count).prefix(3)) ?? 0, Array(bytes[end.upperBound...]))
    }

    /// Sends the bytes, and returns everything that comes back within a minute; nil if nothing listens.
    private func exchange(_ bytes: [UInt8]) -> [UInt8]? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected, (try? DurableFiles.writeAll(bytes, to: descriptor)) != nil else { return nil }
        return try? DurableFiles.readAll(descriptor, limit: 1_000_000)
    }
}
