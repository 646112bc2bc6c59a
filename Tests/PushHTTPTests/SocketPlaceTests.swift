import Foundation
import TestSupport
import Testing

@testable import PushHTTP

@Suite("A socket's path") struct SocketPlaceTests {
    @Test("a socket's path belongs to one service at a time, and is free again after that service dies")
    func places() throws {
        let folder = try TemporaryFolder()
        let path = folder.appending("s").path
        for _ in 1...2 {
            let first = try SocketPlace(path)
            #expect(throws: ServingError.self) { try SocketPlace(path) }
            withExtendedLifetime(first) {}
        }
    }
}
