import Foundation
import TestPrograms
import TestSupport
import Testing

@testable import PushHTTP

@Suite("A socket's place", .blocking) struct SocketPlaceTests {
    private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @Test("is one service's at a time, and what is taken away at the end is what it has put there")
    func places() throws {
        let folder = try TemporaryFolder()
        let path = folder.appending("s").path
        let first = try SocketPlace(path)
        #expect(throws: ServingError.self) { try SocketPlace(path) }
        try folder.write("first", to: "s.new")
        #expect(first.show() && isThere(path) && !isThere(first.bound))
        first.release()
        #expect(!isThere(path) && !isThere(path + ".lock"))

        let second = try SocketPlace(path)
        try folder.write("second", to: "s.new")
        #expect(second.show())
        // Somebody has taken it away, and put something of their own there.
        try FileManager.default.removeItem(atPath: path)
        try folder.write("another's", to: "s")
        second.release()
        #expect(try Checkout.text(folder.appending("s")) == "another's")
        // Once only: the place may be a third one's by then.
        try FileManager.default.removeItem(atPath: path)
        let third = try SocketPlace(path)
        second.release()
        #expect(throws: ServingError.self) { try SocketPlace(path) }
        third.release()
    }

    @Test("what it has put there is its own, also where its operator has opened it to others") func opened() throws {
        let folder = try TemporaryFolder()
        let path = folder.appending("s").path
        let place = try SocketPlace(path)
        try folder.write("own", to: "s.new")
        #expect(place.show())
        let changed = { try Program(at: "/usr/bin/stat").run("-c", "%z", path).output }
        let before = try changed()
        // Until the file system's clock shows it.
        repeat {
            try FileManager.default.setAttributes([.posixPermissions: 0o660], ofItemAtPath: path)
        } while try changed() == before
        place.release()
        #expect(!isThere(path) && !isThere(path + ".lock"))
    }

    @Test("is free again where its service is gone without a word") func dropped() throws {
        let folder = try TemporaryFolder()
        let path = folder.appending("s").path
        do { _ = try SocketPlace(path) }
        let next = try SocketPlace(path)
        #expect(!next.show() && next.failure != nil, "nothing was bound")
        next.release()
    }
}
