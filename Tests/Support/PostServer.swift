import Foundation
import PushCore

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A server on loopback that takes what is posted as it is told, and keeps what came: the whole request, and its body.
public final class PostServer: Sendable {
    public enum Manner: Sendable {
        case answers(Int)
        /// With this whole answer to a path.
        case replies(@Sendable (_ path: String) -> String)
        /// Takes the request and never answers.
        case hangs
        /// A head without an end.
        case floods
        /// Elsewhere, to the path `/other`.
        case redirects
        case closes
        /// In the head, behind the status.
        case breaksOff
    }

    public let port: UInt16
    private let listener: Int32
    private let state: Locked<State>

    private struct State {
        var manner: Manner
        public var heads: [String] = []
        public var bodies: [[UInt8]] = []
    }

    public init(_ manner: Manner = .answers(204)) throws {
        signal(SIGPIPE, SIG_IGN)
        state = Locked(State(manner: manner))
        #if canImport(Darwin)
            listener = socket(AF_INET, SOCK_STREAM, 0)
            _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
        #else
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { [listener] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                let status = bind(listener, pointer, length) | listen(listener, 64)
                getsockname(listener, pointer, &length)
                return status
            }
        }
        guard status == 0 else { throw POSIXError(.EADDRINUSE) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [weak self, listener] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0, let server = self else { return }
                Thread.detachNewThread {
                    server.serve(connection)
                    close(connection)
                }
            }
        }
    }

    public var url: String { "http://127.0.0.1:\(port)/r" }
    public var heads: [String] { state.withLock { $0.heads } }
    public var bodies: [[UInt8]] { state.withLock { $0.bodies } }

    public func behave(_ manner: Manner) { state.withLock { $0.manner = manner } }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private func serve(_ connection: Int32) {
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var body: [UInt8]?
        while body == nil {
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { return }
            request += buffer[..<count]
            guard let end = request.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
            let head = String(decoding: request[..<end.lowerBound], as: UTF8.self)
            let lengthLine = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
            let length = lengthLine.flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
            guard request.count - end.upperBound >= length else { continue }
            body = Array(request[end.upperBound...])
            state.withLock { state in
                state.heads.append(head)
                state.bodies.append(Array(request[end.upperBound...]))
            }
        }
        switch state.withLock({ $0.manner }) {
        case .answers(let status):
            send(
                connection,
                "HTTP/1.1 \(status) X\r\n\(status == 204 ? "" : "Content-Length: 0\r\n")Connection: close\r\n\r\n")
        case .replies(let reply):
            let head = String(decoding: request, as: UTF8.self)
            send(connection, reply(head.split(separator: " ").dropFirst().first.map(String.init) ?? ""))
        case .hangs: while read(connection, &buffer, buffer.count) > 0 {}
        case .floods:
            guard send(connection, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n") else { return }
            while send(connection, String(repeating: "x", count: 65_536)) {}
        case .redirects:
            send(connection, "HTTP/1.1 307 X\r\nLocation: /other\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        case .closes: break
        case .breaksOff: send(connection, "HTTP/1.1 204 X\r\nConnection: close\r\n")
        }
    }

    @discardableResult private func send(_ connection: Int32, _ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
