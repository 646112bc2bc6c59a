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
    private let known = KnownTexts()

    init(outbox: Outbox, state: @escaping @Sendable () -> ServerState) {
        self.outbox = outbox
        self.state = state
    }

    /// Durable when it is answered.
    func enqueue(_ request: Request, _ context: ServerContext) async throws -> Response {
        // In their order, so that of two messages for one device the first goes first.
        try await answer(request, status: .accepted, isParallel: false) { members, status in
            let order = try MessageOrder(members)
            let report = try await outbox.enqueue(
                order.content, to: order.audience, from: state().sealer, priority: order.priority,
                expiration: order.expiration, includingUnverified: order.includesUnverified, key: order.key)
            var answer: [String: JSONValue] = [
                "enqueued": .integer(Int64(report.enqueuedCount)),
                "alreadyEnqueued": .integer(Int64(report.alreadyEnqueuedCount)),
                "skipped": .object(
                    Dictionary(
                        uniqueKeysWithValues: report.skipped.map { ($0.key.rawValue, .integer(Int64($0.value))) })),
            ]
            if let status { answer["status"] = .integer(Int64(status)) }
            var writer = JSONWriter()
            writer.value(.object(answer))
            return writer.bytes
        }
    }

    /// Nothing is kept.
    func seal(_ request: Request, _ context: ServerContext) async throws -> Response {
        try await answer(request, status: .ok, isParallel: true) { members, status in
            let order = try SealOrder(members, known: known)
            let sealer = state().sealer
            guard case .device(let name) = order.target else {
                return try order.sealed(by: sealer).json(known, status: status)
            }
            guard let device = try await outbox.device(name) else { throw OutboxError.unknownDevice }
            let target: SealOrder.Target
            switch device.keys {
            case .enrolled(let enrolled): target = .enrolled(enrolled)
            case .unverified(let recipient):
                guard order.includesUnverified else { throw SealOrder.unverified }
                target = .recipient(recipient)
            }
            return try order.sealed(by: sealer, for: target).json(known, status: status)
        }
    }

    // MARK: One, or many

    private func answer(
        _ request: Request, status: HTTPResponse.Status, isParallel: Bool,
        _ work: @escaping @Sendable (_ members: [String: JSONValue], _ status: Int?) async throws -> [UInt8]
    ) async throws -> Response {
        guard request.mediaType == Self.lines else {
            guard request.mediaType == "application/json" else {
                throw Request.wrongType("application/json, or \(Self.lines) for up to 1000 messages, a line each")
            }
            return .json(try await work(try await request.members(), nil), status: status)
        }
        let body = try await request.wholeBody(upTo: ServerLimits.batchByteCount)
        let lines = Array(body.readableBytesView).split(separator: 0x0a)
            .filter { !$0.allSatisfy { $0 == 0x0d || $0 == 0x20 } }
        guard lines.count <= ServerLimits.batchLineCount else {
            throw Problem(
                .contentTooLarge, "too-many-lines", "a batch has at most \(ServerLimits.batchLineCount) lines")
        }
        let one: @Sendable (ArraySlice<UInt8>) async -> [UInt8] = { line in
            do {
                guard line.count <= ServerLimits.bodyByteCount else {
                    throw Problem(.contentTooLarge, "body-too-large", "the line is too long")
                }
                return try await work(try Request.members(Array(line)), status.code)
            } catch {
                var writer = JSONWriter()
                writer.value(Problem(error).json())
                return writer.bytes
            }
        }
        var answers: [[UInt8]] = []
        if isParallel {
            let share = max(32, (lines.count + 3) / 4)
            answers = await withTaskGroup(of: (Int, [[UInt8]]).self) { group in
                for start in stride(from: 0, to: lines.count, by: share) {
                    let part = lines[start..<min(start + share, lines.count)]
                    group.addTask {
                        var answers: [[UInt8]] = []
                        for line in part { answers.append(await one(line)) }
                        return (start, answers)
                    }
                }
                var parts: [(Int, [[UInt8]])] = []
                for await part in group { parts.append(part) }
                return parts.sorted { $0.0 < $1.0 }.flatMap(\.1)
            }
        } else {
            for line in lines { answers.append(await one(line)) }
        }
        var buffer = ByteBuffer()
        for answer in answers {
            buffer.writeBytes(answer)
            buffer.writeInteger(UInt8(ascii: "\n"))
        }
        return Response(status: .ok, headers: [.contentType: Self.lines], body: .init(byteBuffer: buffer))
    }

    private static let lines = "application/x-ndjson"
}
