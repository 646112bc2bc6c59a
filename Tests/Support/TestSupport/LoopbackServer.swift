public import Foundation
import PushCore

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A real HTTP/1.1 server on loopback that accepts a request on each connection and lets a subclass answer. Uses one thread
/// per connection.
///
/// `@unchecked`, because it isn't final: locks protect its mutable state.
public class LoopbackServer: @unchecked Sendable {
    public let port: UInt16
    private let listener: Int32
    private let taken = Locked<[(head: String, body: [UInt8])]>([])
    private let open = Locked<Set<Int32>>([])

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        listener = Self.streamSocket()
        guard let port = Self.name(listener, 0), listen(listener, 64) == 0 else { throw POSIXError(.EADDRINUSE) }
        self.port = port
        Thread.detachNewThread { [weak self, listener] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0, let server = self else { return }
                server.open.withLock { _ = $0.insert(connection) }
                Thread.detachNewThread {
                    server.serve(connection)
                    server.open.withLock { _ = $0.remove(connection) }
                    close(connection)
                }
            }
        }
    }

    /// Returns a port on which nothing listens. It is below the range from which systems choose ports, so no other test's server
    /// gets it meanwhile.
    public static func freePort() -> Int {
        while true {
            let descriptor = streamSocket()
            defer { close(descriptor) }
            if let port = name(descriptor, .random(in: 10_000..<32_000)) { return Int(port) }
        }
    }

    /// Binds a socket to a port of loopback, or, for 0, to one that the system chooses, and returns the port.
    private static func name(_ descriptor: Int32, _ port: UInt16) -> UInt16? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) | getsockname(descriptor, pointer, &length)
            }
        }
        return status == 0 ? UInt16(bigEndian: address.sin_port) : nil
    }

    /// A socket that child processes don't inherit.
    private static func streamSocket() -> Int32 {
        #if canImport(Darwin)
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
        #else
        socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #endif
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// The request heads received so far, including their headers.
    public var heads: [String] { taken.withLock { $0.map(\.head) } }
    /// The requested paths.
    public var requests: [String] { heads.map(Self.path) }
    public var bodies: [[UInt8]] { taken.withLock { $0.map(\.body) } }
    /// The number of open connections.
    public var connectionCount: Int { open.withLock { $0.count } }

    /// Answers the request for a path; the connection is closed afterward.
    func answer(_ path: String, on connection: Int32) {}

    private func serve(_ connection: Int32) {
        var request: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while request.count < 1 << 20 {
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { return }
            request += buffer[..<count]
            guard let end = request.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
            let head = String(decoding: request[..<end.lowerBound], as: UTF8.self)
            let lengthLine = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
            let length = lengthLine.flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
            guard request.count - end.upperBound >= length else { continue }
            taken.withLock { [body = Array(request[end.upperBound...])] in $0.append((head, body)) }
            return answer(Self.path(of: head), on: connection)
        }
    }

    private static func path(of head: String) -> String {
        head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
    }

    // MARK: For subclasses

    func head(_ status: Int, _ length: Int, _ headers: [String] = []) -> [UInt8] {
        // RFC 9110, 8.6: a 204 has no length.
        let length = status == 204 ? [] : ["Content-Length: \(length)"]
        let lines = ["HTTP/1.1 \(status) X"] + length + ["Connection: close"] + headers
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    func waitForEnd(_ connection: Int32) {
        var byte: UInt8 = 0
        while read(connection, &byte, 1) > 0 {}
    }

    /// Returns false if the client no longer accepts data.
    @discardableResult func send(_ connection: Int32, _ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult func send(_ connection: Int32, _ text: String) -> Bool { send(connection, Array(text.utf8)) }

    /// Sends `start`, then `piece` endlessly.
    func flood(_ connection: Int32, after start: String, _ piece: [UInt8]) {
        guard send(connection, start), !piece.isEmpty else { return }
        while send(connection, piece) {}
    }
}

/// Serves files, treating each one as a test specifies: the best and the worst of the web.
public final class MisbehavingServer: LoopbackServer, @unchecked Sendable {
    public enum Manner: Sendable {
        case serves([UInt8])
        /// Serves with a header chosen by the test.
        case servesWith([UInt8], header: String)
        /// Sends a byte now and then, after sending the first ones at once.
        case drips([UInt8], after: Int, every: Duration)
        /// Accepts the request and never answers.
        case hangs
        /// Announces another length than it sends, then waits for the client to close.
        case lies([UInt8], contentLength: Int)
        /// Announces no length, and sends this endlessly.
        case floods([UInt8])
        /// Closes in the middle.
        case cuts([UInt8], after: Int)
        case redirects(to: String)
        case answers(status: Int)
        /// Doesn't send HTTP.
        case babbles
        /// Sends this, then the other endlessly until the client closes; ends if there is no other.
        case sends(String, again: String = "")
    }

    private let manners = Locked<[String: Manner]>([:])

    public override init() throws { try super.init() }

    /// Returns the URL of a path, and assigns this manner to it.
    public func url(_ path: String, _ manner: Manner) -> URL {
        manners.withLock { $0["/" + path] = manner }
        return URL(string: "http://127.0.0.1:\(port)/\(path)")!
    }

    override func answer(_ path: String, on connection: Int32) {
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
        case .floods(let piece)?: flood(connection, after: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", piece)
        case .cuts(let body, let count)?: send(connection, head(200, body.count) + body.prefix(count))
        case .redirects(let target)?: send(connection, head(302, 0, ["Location: \(target)"]))
        case .answers(let status)?: send(connection, head(status, 0))
        case .babbles?: send(connection, "this is not HTTP\n\n\n")
        case .sends(let start, let rest)?: flood(connection, after: start, Array(rest.utf8))
        case nil: send(connection, head(404, 0))
        }
    }
}

/// Treats posted data as specified.
public final class PostServer: LoopbackServer, @unchecked Sendable {
    public enum Manner: Sendable {
        case answers(Int)
        /// Returns this whole response for a path.
        case replies(@Sendable (_ path: String) -> String)
        /// Accepts the request and never answers.
        case hangs
        /// Sends an endless body.
        case floods
        /// Redirects to the path `/other`.
        case redirects
        case closes
    }

    private let manner: Locked<Manner>

    public init(_ manner: Manner = .answers(204)) throws {
        self.manner = Locked(manner)
        try super.init()
    }

    public var url: String { "http://127.0.0.1:\(port)/r" }

    public func behave(_ manner: Manner) { self.manner.withLock { $0 = manner } }

    override func answer(_ path: String, on connection: Int32) {
        switch manner.withLock({ $0 }) {
        case .answers(let status): send(connection, head(status, 0))
        case .replies(let reply): send(connection, reply(path))
        case .hangs: waitForEnd(connection)
        case .floods:
            flood(
                connection, after: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", Array(repeating: 0x78, count: 65_536)
            )
        case .redirects: send(connection, head(307, 0, ["Location: /other"]))
        case .closes: break
        }
    }
}
