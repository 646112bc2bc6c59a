import Foundation
internal import PushCore
internal import PushService
internal import SealedPush

/// The network of a test device: the app's server, and files from a table.
struct TestNetwork: Fetching {
    let state: Locked<TestDevice.State>

    /// As in a debug build in Apple's Simulator: the server of an app under test may be on the same machine.
    func exempts(_ host: NetworkHost) -> Bool { host.isLoopback }

    func fetch(_ request: FetchRequest) async throws(MediaError) -> FetchAnswer {
        let (isOnline, servers, file, now) = state.withLock { state in
            (state.isOnline, state.servers, state.files[request.url], state.now ?? .now())
        }
        guard isOnline else { throw .network }
        for server in servers {
            guard let answer = server.answer(to: request, at: now) else { continue }
            return try Self.answer(answer.status, Array(answer.body.map(\.bytes) ?? []), to: request)
        }
        return try Self.answer(file == nil ? 404 : 200, Array(file ?? Data()), to: request)
    }

    private static func answer(
        _ status: Int, _ body: [UInt8], to request: FetchRequest
    ) throws(MediaError) -> FetchAnswer {
        let answer = FetchAnswer(status: status) { name in
            name == "Content-Length" && status == 200 ? "\(body.count)" : nil
        }
        guard try request.wantsBody(answer), status == 200 || !body.isEmpty else { return answer }
        let taken = body.withUnsafeBytes { bytes in Result { () throws(MediaError) in try request.take(bytes) } }
        try taken.get()
        return answer
    }
}
