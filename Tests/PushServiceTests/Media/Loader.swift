import Foundation
import TestSupport
import Testing

@testable import PushService

#if os(Linux)
    import PushSimulator
#endif

/// What fetches in a test.
enum Loader: String, CaseIterable, Sendable {
    /// What ships. On Linux it has Foundation's loader beneath, which is another than Apple's.
    case session
    #if os(Linux)
        /// The simulator's.
        case curl

        /// Foundation's loader keeps a core busy while it waits: nothing for tests that run beside others.
        static let standard = curl
    #else
        static let standard = session
    #endif

    /// One that reaches servers on this machine.
    var fetcher: any Fetching {
        switch self {
        case .session: LoopbackFetching(fetcher: SessionFetching())
        #if os(Linux)
            case .curl: CurlFetching()
        #endif
        }
    }

    /// Linux's own takes a core for up to a minute to find that something has no end: in a thorough run alone.
    var bearsFloods: Bool {
        #if canImport(FoundationNetworking)
            self != .session || Thoroughness.isThorough
        #else
            true
        #endif
    }

    /// The servers that are put before it: all of them, but on Linux before Foundation's loader.
    func bears(_ server: OddServer) -> Bool {
        #if canImport(FoundationNetworking)
            self != .session || (server.isBearable && (!server.isEndless || bearsFloods))
        #else
            true
        #endif
    }
}

/// Another fetcher, for servers on this machine.
struct LoopbackFetching: Fetching {
    let fetcher: any Fetching

    func exempts(_ host: NetworkHost) -> Bool { host.isLoopback }

    func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer { try await fetcher.fetch(request) }
}

/// Servers whose answers are odd, or have no end.
enum OddServer: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case trailers
    case trailersOf404 = "404 with trailers"
    case hugeLength = "huge length"
    case nearlyHugeLength = "nearly huge length"
    case headBreaksOff = "a head that breaks off"
    case endlessRedirect = "endless redirect"
    case endless404 = "endless 404"
    case endlessHeads = "endless heads"
    case endlessHead = "endless head"
    case endless103 = "endless 103"
    case endlessTrailers = "endless trailers"
    case unauthorized
    case twoLengths = "two lengths"

    var testDescription: String { rawValue }

    var manner: MisbehavingServer.Manner {
        let ok = "HTTP/1.1 200 OK\r\n"
        let chunked = "Transfer-Encoding: chunked\r\n\r\n"
        let piece = String(repeating: "a", count: 4_096)
        return switch self {
        case .trailers: .sends(ok + chunked + "1\r\na\r\n0\r\nX-T: v\r\n\r\n")
        case .trailersOf404: .sends("HTTP/1.1 404 X\r\n" + chunked + "0\r\nX-T: v\r\n\r\n")
        case .hugeLength: .sends(ok + "Content-Length: 9223372036854775807\r\n\r\n", again: piece)
        case .nearlyHugeLength: .sends(ok + "Content-Length: 9223372036854775707\r\n\r\n", again: piece)
        case .headBreaksOff: .sends("HTTP/1.1 204 X\r\nConnection: close\r\n")
        case .endlessRedirect: .sends("HTTP/1.1 302 X\r\nLocation: /good\r\n\r\n", again: piece)
        case .endless404: .sends("HTTP/1.1 404 X\r\n\r\n", again: piece)
        case .endlessHeads: .sends(ok, again: "X-A: b\r\n")
        case .endlessHead: .sends(ok + "X-A: ", again: piece)
        case .endless103: .sends("", again: "HTTP/1.1 103 X\r\n\r\n")
        case .endlessTrailers: .sends(ok + chunked + "0\r\n", again: "X-A: b\r\n")
        case .unauthorized:
            .sends("HTTP/1.1 401 X\r\nWWW-Authenticate: Basic realm=\"a\"\r\nContent-Length: 0\r\n\r\n")
        case .twoLengths: .sends(ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab")
        }
    }

    /// Whether Linux's loader ends the whole process: after trailers and a head that breaks off it has no answer at the end of
    /// the transfer; with a length near 2^63 it calculates.
    var endsTheProcess: Bool {
        switch self {
        case .trailers, .trailersOf404, .hugeLength, .nearlyHugeLength, .headBreaksOff: true
        case .endlessRedirect, .endless404, .endlessHeads, .endlessHead, .endless103, .endlessTrailers, .unauthorized,
            .twoLengths:
            false
        }
    }

    var isEndless: Bool { rawValue.hasPrefix("endless") }

    /// Whether Linux's loader can be put before it. It reads a redirect's body to its end, into memory, before it asks whether
    /// to follow; and trailers without an end, whatever it is told.
    var isBearable: Bool { !endsTheProcess && self != .endlessRedirect && self != .endlessTrailers }
}
