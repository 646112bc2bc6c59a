import Dispatch
import Foundation
import Glibc

/// A connection to a local port or socket that writes and reads any bytes, well-formed or not.
package final class RawClient: Sendable {
    private let descriptor: Int32

    package convenience init(port: Int) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        try self.init(AF_INET, address)
    }

    /// - Parameter path: At most 107 bytes.
    package convenience init(socket path: String) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        try self.init(AF_UNIX, address)
    }

    private init<Address>(_ family: Int32, _ address: Address) throws {
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        let status = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        var time = timeval(tv_sec: 300, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// This end's port.
    package var ownPort: Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return Int(in_port_t(bigEndian: address.sin_port))
    }

    package func write(_ text: String, _ body: [UInt8] = []) {
        let bytes = Array(text.utf8) + body
        _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    /// Tells the other side that everything is written.
    package func closeOutput() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Writes a text repeatedly without reading, until the other side closes or accepts nothing for `patience` seconds.
    package func flood(_ text: String, atMost limit: Int, patience: Int) async -> (byteCount: Int, isClosed: Bool) {
        await waiting { self.writeFlood(Array(text.utf8), atMost: limit, patience: patience) }
    }

    /// Returns the next head, or nil if the connection closes first.
    package func head() async -> String? { await waiting { self.readHead() } }

    /// Returns the status of the next response, without reading its body.
    package func status() async -> Int? { await head().flatMap { Int($0.split(separator: " ")[1]) } }

    /// Returns the next bytes, or fewer if the connection closes first.
    package func bytes(_ count: Int) async -> [UInt8] { await waiting { self.readBytes(count) } }

    /// Returns everything until the other side closes.
    package func rest() async -> String { await waiting { self.readRest() } }

    /// Runs a closure on a thread that may block; tasks share few threads, which the server needs.
    private func waiting<Answer: Sendable>(_ body: @escaping @Sendable () -> Answer) async -> Answer {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: body()) }
        }
    }

    private func writeFlood(_ bytes: [UInt8], atMost limit: Int, patience: Int) -> (byteCount: Int, isClosed: Bool) {
        var time = timeval(tv_sec: patience, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        var total = 0
        while total < limit {
            let count = bytes.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[(total % bytes.count)...])
                return send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return (total, errno != EAGAIN) }
            total += count
        }
        return (total, false)
    }

    private func readHead() -> String? {
        var text = ""
        while !text.hasSuffix("\r\n\r\n") {
            var byte: UInt8 = 0
            guard recv(descriptor, &byte, 1, 0) == 1 else { return nil }
            text.unicodeScalars.append(Unicode.Scalar(byte))
        }
        return text
    }

    private func readBytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while bytes.count < count, recv(descriptor, &byte, 1, 0) == 1 { bytes.append(byte) }
        return bytes
    }

    private func readRest() -> String {
        var text = ""
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) == 1 { text.unicodeScalars.append(Unicode.Scalar(byte)) }
        return text
    }

    deinit { close(descriptor) }
}
