import Testing

@testable import PushCore

@Suite("libsodium")
struct SodiumTests {
    @Test("has no problem here")
    func ready() { #expect(Sodium.problem == nil) }

    @Test(
        "is taken from 1.0.18 on",
        arguments: [(9, 9, false), (10, 2, false), (10, 3, true), (10, 4, true), (23, 0, true), (26, 1, true)])
    func version(major: Int32, minor: Int32, isRecent: Bool) {
        #expect(Sodium.isRecent(major, minor) == isRecent)
    }
}
