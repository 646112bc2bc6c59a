public import Foundation
import PushCore

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A real HTTP/1.1 server on loopback that serves files, and does with each what a test wants: the best and the worst of
/// the web. One thread a connection.
public final class MisbehavingServer: Sendable {
    public enum Manner: Sendable {
        case serves([UInt8])
        /// With a header of the test's own.
        case servesWith([UInt8], header: String)
        /// A byte now and then; the first ones at once.
        case drips([UInt8], after: Int, every: Duration)
        /// Takes the request and never answers.
        case hangs
        /// Says another length than it sends, then goes on until the client has enough.
        case lies([UInt8], contentLength: Int)
        /// Says no length and sends this again and again, without end.
        case floods([UInt8])
        /// Closes in the middle.
        case cuts([UInt8], after: Int)
        case redirects(to: String)
        case answers(status: Int)
        /// Sends no HTTP.
        case babbles
        /// Sends this, then the other again and again until the client has enough; ends where there is none.
        case sends(String, again: String = "")
    }

    public let port: UInt16
    private let listener: Int32
    private let manners = Locked<[String: Manner]>([:])
    private let log = Locked<[String]>([])
    private let open = Locked<Set<Int32>>([])
    private let highest = Locked(0)

    public init() throws {
        signal(SIGPIPE, SIG_IGN)
        listener = Self.streamSocket()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (listener, bound) = withUnsafeMutablePointer(to: &address) { [listener] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                let status = bind(listener, pointer, length) | listen(listener, 64)
                getsockname(listener, pointer, &length)
                return (listener, status)
            }
        }
        guard bound == 0 else { throw POSIXError(.EADDRINUSE) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0, let server = self else { return }
                let count = server.open.withLock { open in
                    open.insert(connection)
                    return open.count
                }
                server.highest.withLock { $0 = max($0, count) }
                Thread.detachNewThread {
                    server.serve(connection)
                    server.open.withLock { _ = $0.remove(connection) }
                    close(connection)
                }
            }
        }
    }

    /// One that child processes don't get.
    private static func streamSocket() -> Int32 {
        #if canImport(Darwin)
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            return descriptor
        #else
            socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #endif
    }

    /// The address of a path, which gets this manner.
    public func url(_ path: String, _ manner: Manner) -> URL {
        manners.withLock { $0["/" + path] = manner }
        return URL(string: "http://127.0.0.1:\(port)/\(path)")!
    }

    /// What was asked for, each with its headers.
    public var heads: [String] { log.withLock { $0 } }
    /// The paths that were asked for.
    public var requests: [String] { heads.map(Self.path) }
    /// How many connections are open now.
    public var connectionCount: Int { open.withLock { $0.count } }
    /// The most that there were at once.
    public var highestConnectionCount: Int { highest.withLock { $0 } }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private func serve(_ connection: Int32) {
        guard let request = readHead(connection) else { return }
        log.withLock { $0.append(request) }
        let path = Self.path(of: request)
        switch manners.withLock({ $0[path] }) {
        case .serves(let body)?: send(connection, head(200, body.count) + body)
        case .servesWith(let body, let header)?: send(connection, head(200, body.count, [header]) + body)
        case .drips(let body, let count, let pause)?:
            guard send(connection, head(200, body.count) + body.prefix(count)) else { return }
            for byte in body.dropFirst(count) {
                usleep(UInt32(pause / .microseconds(1)))
                guard send(connection, [byte]) else { return }
            }
        case .hangs?: waitForEnd(connection)
        case .lies(let body, let length)?: if send(connection, head(200, length) + body) { waitForEnd(connection) }
        case .floods(let piece)?:
            guard send(connection, Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8)) else { return }
            while send(connection, piece) {}
        case .cuts(let body, let count)?: send(connection, head(200, body.count) + body.prefix(count))
        case .redirects(let target)?: send(connection, head(302, 0, ["Location: \(target)"]))
        case .answers(let status)?: send(connection, head(status, 0))
        case .babbles?: send(connection, Array("this is not HTTP\n\n\n".utf8))
        case .sends(let start, let rest)?:
            guard send(connection, Array(start.utf8)), !rest.isEmpty else { return }
            while send(connection, Array(rest.utf8)) {}
        case nil: send(connection, head(404, 0))
        }
    }

    private func head(_ status: Int, _ length: Int, _ headers: [String] = []) -> [UInt8] {
        let lines = ["HTTP/1.1 \(status) X", "Content-Length: \(length)", "Connection: close"] + headers
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    private static func path(of head: String) -> String {
        head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
    }

    private func readHead(_ connection: Int32) -> String? {
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while request.count < 65_536 {
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { return nil }
            request += buffer[..<count]
            let text = String(decoding: request, as: UTF8.self)
            if text.contains("\r\n\r\n") { return text }
        }
        return nil
    }

    private func waitForEnd(_ connection: Int32) {
        var byte: UInt8 = 0
        while read(connection, &byte, 1) > 0 {}
    }

    @discardableResult private func send(_ connection: Int32, _ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
