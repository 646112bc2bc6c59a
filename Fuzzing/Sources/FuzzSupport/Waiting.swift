import Dispatch

/// Runs this to its end: libFuzzer's call is over when it returns.
public func waiting<Answer: Sendable>(for body: @escaping @Sendable () async -> Answer) -> Answer {
    let isDone = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var answer: Answer?
    Task {
        answer = await body()
        isDone.signal()
    }
    isDone.wait()
    guard let answer else { fatalError("it has ended without an answer") }
    return answer
}
