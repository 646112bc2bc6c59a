internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import PushCore
internal import PushOutbox
internal import PushSender
internal import SealedPush

/// The requests of a back end: messages to store and deliver, or to seal for its own delivery. A request contains one
/// message, or up to 1,000, one per line, and each line gets a separate response.
struct MessageRoutes: Sendable {
    let outbox: Outbox
    /// Limits batches of both types together, since each batch takes memory.
    let batches: TaskSemaphore
    /// How long a batch waits for a slot.
    let patience: Duration
    let state: @Sendable () -> ServerState
    let known = ParsedTexts()

    /// Stores a message, durable once the response arrives.
    func enqueue(_ request: Request, _ context: ServerContext) async throws -> Response {
        let key = try request.idempotencyKey()
        // In order, so that of two messages for the same device, the first one is sent first.
        return try await answer(request, context, status: .accepted, isParallel: false) { members, line, writer in
            // Read again for each message, so that a revoked key seals no further lines of a batch. A broadcast that has
            // started still finishes with it.
            let sealer = try state().sender().sealer
            let order = try MessageOrder(members, header: key)
            let report = try await outbox.enqueue(
                OutgoingMessage(order.content, priority: order.priority, expiration: order.expiration, key: order.key),
                to: order.audience, from: sealer, includingUnverified: order.includesUnverified)
            var answer = report.json
            if let line { (answer["line"], answer["status"]) = (.count(line.number), .count(line.status)) }
            answer["warnings"] = .warnings(order.suspects)
            writer.value(.object(answer))
        }
    }

    /// Returns the outcomes of a message.
    func report(_ request: Request, _ context: ServerContext) async throws -> Response {
        guard let id = context.part("message").flatMap({ MessageID(parsing: $0.lowercased()) })
        else { throw Problem.malformed("no message ID in the path; expected the `id` that POST /v1/messages returned") }
        guard let report = try await outbox.report(on: id) else {
            throw Problem(.notFound, "unknown-message", "no message was enqueued under this ID in the last 30 days")
        }
        var members: [String: JSONValue] = [
            "id": .string(id.description), "enqueued": .count(report.enqueuedCount),
            "outcomes": .counts(report.outcomes),
        ]
        let devices = report.devices?.map { ($0.key.description, $0.value) }.sorted { $0.0 < $1.0 }
        members["devices"] = devices.map { .array($0.map { ["device": .string($0), "outcome": .string($1)] }) }
        return .json(.object(members))
    }

    /// Seals a message, and stores nothing.
    func seal(_ request: Request, _ context: ServerContext) async throws -> Response {
        try await answer(request, context, status: .ok, isParallel: true) { members, line, writer in
            let sealer = try state().sender().sealer
            let order = try SealOrder(members, known: known)
            guard case .device(let name) = order.target else {
                return try order.seal(by: sealer, to: &writer, line: line)
            }
            guard let device = try await outbox.device(name) else { throw OutboxError.unknownDevice }
            let target: SealOrder.Target
            switch device.keys {
            case .enrolled(let enrolled): target = .enrolled(enrolled)
            case .unverified(let recipient):
                guard order.includesUnverified else { throw OrderError.unverified }
                target = .recipient(KnownRecipient(key: recipient))
            }
            try order.seal(by: sealer, for: target, to: &writer, line: line)
        }
    }

    // MARK: Single messages and batches

    /// Writes the answer to one message. If it throws, nothing was written.
    private typealias Work =
        @Sendable (_ message: consuming JSONMembers, _ line: AnswerLine?, _ answer: inout JSONWriter) async throws ->
        Void

    private func answer(
        _ request: Request, _ context: ServerContext, status: HTTPResponse.Status, isParallel: Bool,
        _ work: @escaping Work
    ) async throws -> Response {
        guard request.mediaType == Self.linesType else {
            guard request.mediaType == "application/json" else {
                throw Request.wrongType("application/json, or \(Self.linesType) for up to 1000 messages, one per line")
            }
            var answer = JSONWriter(reservingByteCount: 5_120)
            try await work(try await request.members(), nil, &answer)
            return .json(answer.bytes, status: status)
        }
        // Entered before the body is read: until then, the connection applies back pressure, and the deadline runs.
        guard await batches.enter(within: patience) else { throw Problem.unavailable("too many batches at once") }
        defer { batches.leave() }
        let body = try await request.wholeBody(upTo: ServerLimits.batchByteCount)
        let lines = try Self.lines(of: body.readableBytesView)
        let answers = await Self.answers(to: lines, isParallel ? 4 : 1, status.code, context, work)
        return Response(status: .ok, headers: [.contentType: Self.linesType], body: .init(byteBuffer: answers))
    }

    /// A line of a batch that is not blank, and its number among all lines, from 1.
    private typealias Line = (number: Int, bytes: ByteBufferView)

    /// Answers the lines in order. Only `parallelCount` parts of 32 lines each are processed at a time, so that their
    /// answers are still in a core's cache when copied.
    private static func answers(
        to lines: [Line], _ parallelCount: Int, _ status: Int, _ context: ServerContext, _ work: @escaping Work
    ) async -> ByteBuffer {
        var answers = ByteBuffer()
        answers.reserveCapacity(lines.count * answerByteCount)
        var rest = lines[...]
        while !rest.isEmpty {
            await withTaskGroup(of: (Int, [UInt8]).self) { group in
                for _ in 0..<parallelCount where !rest.isEmpty {
                    let part = rest.prefix(32)
                    rest = rest.dropFirst(32)
                    group.addTask { (part.startIndex, await Self.answers(to: part, status, context, work)) }
                }
                var parts: [(Int, [UInt8])] = []
                for await part in group { parts.append(part) }
                for part in parts.sorted(by: { $0.0 < $1.0 }) { answers.writeBytes(part.1) }
            }
        }
        return answers
    }

    private static func answers(
        to lines: ArraySlice<Line>, _ status: Int, _ context: ServerContext, _ work: Work
    ) async -> [UInt8] {
        var answers = JSONWriter(reservingByteCount: lines.count * answerByteCount)
        for line in lines {
            do {
                try await work(
                    try OrderReader.members(of: line.bytes, isLine: true),
                    AnswerLine(number: line.number, status: status), &answers)
            } catch {
                let problem = Problem(error)
                Reporting.log(error, problem, context)
                answers.value(problem.json(line: line.number))
            }
            answers.endLine()
        }
        return answers.bytes
    }

    /// Large enough for most answers.
    private static let answerByteCount = 1_536

    /// Splits a body into lines. Blank lines are omitted, but count as lines.
    private static func lines(of body: ByteBufferView) throws(Problem) -> [Line] {
        var lines: [Line] = []
        var (rest, number) = (body, 0)
        while !rest.isEmpty {
            number += 1
            guard number <= ServerLimits.batchLineCount else {
                throw Problem(
                    .contentTooLarge, "too-many-lines",
                    "a batch has at most \(ServerLimits.batchLineCount) lines, including blank ones")
            }
            let end = rest.lineEnd
            let line = rest[..<(end ?? rest.endIndex)]
            if !JSONReader.isBlank(line) { lines.append((number, line)) }
            rest = rest[(end.map { $0 + 1 } ?? rest.endIndex)...]
        }
        return lines
    }

    fileprivate static let linesType = "application/x-ndjson"
}

extension Request {
    /// The `Idempotency-Key` header, with or without quotation marks; nil if there is none. In quotation marks, it's a string
    /// of RFC 9651, 3.3.3; its escapes and parameters are refused, because none has a meaning here.
    func idempotencyKey() throws(Problem) -> IdempotencyKey? {
        guard let name = HTTPField.Name("Idempotency-Key"), var text = try text(of: name) else { return nil }
        if text.hasPrefix("\"") {
            let quoted = text.dropFirst().dropLast()
            guard text.utf8.count > 1, text.hasSuffix("\""), !quoted.contains(where: { "\"\\".contains($0) }) else {
                throw .malformed(
                    "the Idempotency-Key header is invalid; a key in quotation marks contains neither \" nor \\, and has no parameters"
                )
            }
            text = String(quoted)
        }
        guard let key = IdempotencyKey(text)
        else { throw .malformed("the Idempotency-Key header is invalid; expected \(IdempotencyKey.rule)") }
        guard mediaType != MessageRoutes.linesType
        else { throw .malformed("the Idempotency-Key header is for one message; in a batch, each line has a \"key\"") }
        return key
    }
}
