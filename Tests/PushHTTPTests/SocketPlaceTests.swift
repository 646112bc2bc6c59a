import Foundation
import TestSupport
import Testing

@testable import PushHTTP

@Suite("A socket's place") struct SocketPlaceTests {
    @Test("A socket's place is one service's at a time, and free again when that is gone without a word")
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
