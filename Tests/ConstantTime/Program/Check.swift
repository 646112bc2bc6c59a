/// Work with secrets, in which nothing may branch on them.
struct Check: Sendable {
    let name: String
    let run: @Sendable () throws -> Void

    init(_ name: String, _ run: @escaping @Sendable () throws -> Void) {
        self.name = name
        self.run = run
    }
}

struct Unexpected: Error {}

func require(_ isSo: Bool) throws { if !isSo { throw Unexpected() } }
