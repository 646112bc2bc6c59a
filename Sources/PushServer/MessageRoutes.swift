internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// What a back end sends: messages to be kept and delivered, or to be sealed for it to deliver. One in a request, or up to
/// 1,000, a line each, of which each gets an answer of its own.
struct MessageRoutes: Sendable {
    let outbox: Outbox
    let state: @Sendable () -> ServerState

    /// Durable when it is answered.
    func enqueue(_ request: Request, _ context: ServerContext) async throws -> Response {
        // In their order, so that of two messages for one device the first goes first.
        try await answer(request, status: .accepted, isParallel: false) { members in
            let order = try MessageOrder(members)
            let report = try await outbox.enqueue(
                order.content, to: order.audience, from: state().sealer, priority: order.priority,
                expiration: order.expiration, includingUnverified: order.includesUnverified, key: order.key)
            return [
                "enqueued": .integer(Int64(report.enqueuedCount)),
                "alreadyEnqueued": .integer(Int64(report.alreadyEnqueuedCount)),
                "skipped": .object(
                    Dictionary(
                        uniqueKeysWithValues: report.skipped.map { ($0.key.rawValue, .integer(Int64($0.value))) })),
            ]
        }
    }

    /// Nothing is kept.
    func seal(_ request: Request, _ context: ServerContext) async throws -> Response {
        try await answer(request, status: .ok, isParallel: true) { members in
            let order = try SealOrder(members)
            guard case .device(let name) = order.target else { return try order.sealed(by: state().sealer) }
            guard let device = try await outbox.device(name) else { throw OutboxError.unknownDevice }
            switch device.keys {
            case .enrolled(let enrolled): return try order.sealed(by: state().sealer, for: .enrolled(enrolled))
            case .unverified(let recipient):
                guard order.includesUnverified else { throw SealOrder.unverified }
                return try order.sealed(by: state().sealer, for: .recipient(recipient))
            }
        }
    }

    // MARK: One, or many

    private func answer(
        _ request: Request, status: HTTPResponse.Status, isParallel: Bool,
        _ work: @escaping @Sendable ([String: JSONValue]) async throws -> [String: JSONValue]
    ) async throws -> Response {
        guard request.mediaType == Self.lines else {
            guard request.mediaType == "application/json" else {
                throw Request.wrongType("application/json, or \(Self.lines) for up to 1000 messages, a line each")
            }
            return .json(.object(try await work(try await request.members())), status: status)
        }
        let body = try await request.wholeBody(upTo: ServerLimits.batchByteCount)
        let lines = body.readableBytesView.split(separator: 0x0a).filter { !$0.allSatisfy { $0 == 0x0d || $0 == 0x20 } }
        guard lines.count <= ServerLimits.batchLineCount else {
            throw Problem(
                .contentTooLarge, "too-many-lines", "a batch has at most \(ServerLimits.batchLineCount) lines")
        }
        let one: @Sendable (ByteBufferView) async -> JSONValue = { line in
            do {
                guard line.count <= ServerLimits.bodyByteCount else {
                    throw Problem(.contentTooLarge, "body-too-large", "the line is too long")
                }
                let answer = try await work(try Request.members(Array(line)))
                return .object(answer.merging(["status": .integer(Int64(status.code))]) { $1 })
            } catch { return Problem(error).json() }
        }
        var answers: [JSONValue] = []
        if isParallel {
            let share = max(32, (lines.count + 3) / 4)
            answers = await withTaskGroup(of: (Int, [JSONValue]).self) { group in
                for start in stride(from: 0, to: lines.count, by: share) {
                    let part = lines[start..<min(start + share, lines.count)]
                    group.addTask {
                        var answers: [JSONValue] = []
                        for line in part { answers.append(await one(line)) }
                        return (start, answers)
                    }
                }
                var parts: [(Int, [JSONValue])] = []
                for await part in group { parts.append(part) }
                return parts.sorted { $0.0 < $1.0 }.flatMap(\.1)
            }
        } else {
            for line in lines { answers.append(await one(line)) }
        }
        var buffer = ByteBuffer()
        for answer in answers {
            var writer = JSONWriter(reservingByteCount: 4_096)
            writer.value(answer)
            buffer.writeBytes(writer.bytes)
            buffer.writeInteger(UInt8(ascii: "\n"))
        }
        return Response(status: .ok, headers: [.contentType: Self.lines], body: .init(byteBuffer: buffer))
    }

    private static let lines = "application/x-ndjson"
}
