package import SealedPush

/// Makes requests for the stages: ``SessionFetching`` on a device, libcurl in the simulator. It only transfers bytes.
/// The ``FetchRequest`` sets the allowed addresses, the deadline, and how much of the answer to read. Thread-safe.
package protocol Fetching: Sendable {
    /// Whether a host may be reached regardless of the rules, and without TLS. A device exempts no host; the simulator's
    /// fetcher exempts the machine that it runs on.
    func exempts(_ host: NetworkHost) -> Bool

    /// How long a transfer may go without data, and how long a request for a small answer may take.
    var patience: Duration { get }

    /// Makes a request; returns the answer's head once the wanted part of its body has arrived. Doesn't follow
    /// redirects. Uses constant memory. Canceling the task ends the request within a moment; one last piece may follow.
    ///
    /// - Throws: The errors of the request's closures; otherwise `network`, including if no data arrives for ``patience``.
    func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer
}

extension Fetching {
    package func exempts(_ host: NetworkHost) -> Bool { false }

    package var patience: Duration { .seconds(10) }

    /// Returns the answer to a request. Throws `network` if there is none by its deadline.
    func answer(to request: FetchRequest) async throws(MediaError) -> FetchAnswer {
        let result = await withTaskGroup(of: Result<FetchAnswer, MediaError>.self) { group in
            group.addTask {
                do throws(MediaError) { return .success(try await fetch(request)) } catch { return .failure(error) }
            }
            group.addTask {
                try? await Task.sleep(until: request.deadline, clock: .continuous)
                return .failure(.network)
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failure(.network)
        }
        return try result.get()
    }
}
