import Foundation
import FuzzSupport
import Glibc

/// A web server on this machine that returns any given answer.
final class AnsweringServer: @unchecked Sendable {
    let url: URL
    private let listener: Int32
    private let lock = NSLock()
    private var bytes: [UInt8] = []

    init() {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var count = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, count) | listen(listener, 16) | getsockname(listener, address, &count)
            }
        }
        demand(status == 0, "no server: \(String(cString: strerror(errno)))")
        let port = UInt16(bigEndian: address.sin_port)
        url = URL(string: "http://127.0.0.1:\(port)/file").unsafelyUnwrapped
        signal(SIGPIPE, SIG_IGN)
        Thread.detachNewThread { [unowned self] in while true { serve() } }
    }

    func answer(with bytes: [UInt8]) { lock.withLock { self.bytes = bytes } }

    /// Serves one connection: reads the request's head, and writes the answer.
    private func serve() {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        defer { close(connection) }
        var request: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4_096)
        while !request.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            let count = read(connection, &piece, piece.count)
            guard count > 0 else { return }
            request += piece[..<count]
        }
        var rest = lock.withLock { bytes }[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
        shutdown(connection, Int32(SHUT_WR))
        // Wait until the other side has read everything: closing before that would cut it off.
        while read(connection, &piece, piece.count) > 0 {}
    }
}
