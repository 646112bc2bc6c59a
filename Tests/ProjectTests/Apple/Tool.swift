import Dispatch
import Foundation
import TestPrograms

/// Programs of the toolchain and git, two at a time. Whoever waits for one holds no thread that other tests need.
enum Tool {
    private static let queue: OperationQueue = {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        return queue
    }()

    struct Failed: Error, CustomStringConvertible { let description: String }

    static func run(
        _ words: [String], in folder: URL? = nil, environment: [String: String] = [:]
    ) async throws -> Program.Result {
        let settings = environment.map { "\($0)=\($1)" }.sorted()
        return try await withCheckedThrowingContinuation { continuation in
            queue.addOperation {
                continuation.resume(with: Result { try Program(at: "/usr/bin/env", in: folder).run(settings + words) })
            }
        }
    }

    /// What it prints, where it must work.
    @discardableResult static func output(
        of words: [String], in folder: URL? = nil, environment: [String: String] = [:]
    ) async throws -> String {
        let result = try await run(words, in: folder, environment: environment)
        guard result.status == 0 else {
            throw Failed(description: "\(words.joined(separator: " ")): status \(result.status)\n\(result.errors)")
        }
        return result.output
    }
}
