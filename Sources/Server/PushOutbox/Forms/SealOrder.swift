package import PushSender
package import SealedPush

/// One message to be sealed.
package struct SealOrder: Sendable {
    let content: Content
    package let target: Target
    /// The reserve, or `nil` if it wasn't given.
    let reserve: Int?
    let priority: PushPriority
    let expiration: Timestamp?
    package let includesUnverified: Bool
    let suspects: [String]

    package enum Target: Sendable {
        case device(DeviceName)
        /// A device from a back end's own database.
        case enrolled(EnrolledDevice)
        case recipient(KnownRecipient)
    }

    /// `known` contains the texts that earlier orders parsed. `isUnverifiedAllowed` allows unverified keys for all orders.
    package init(
        _ members: consuming JSONMembers, known: ParsedTexts, isUnverifiedAllowed: Bool = false
    ) throws(OrderError) {
        var reader = OrderReader(members)
        includesUnverified = try reader.flag("unverified") || isUnverifiedAllowed
        target = try reader.target(known, includesUnverified: includesUnverified)
        reserve = try reader.optional("reserve", "0 to \(Sealer.maximumReserve)") { value in
            value.integer.flatMap { (0...Int64(Sealer.maximumReserve)).contains($0) ? Int($0) : nil }
        }
        (priority, expiration) = try reader.delivery()
        (content, suspects) = try reader.content()
        try reader.end(
            "device, recipient, record, enrollment, proven, content, reserve, priority, expiration, and unverified")
    }

    /// Writes `Sealed` of Docs/openapi.yaml, with its members sorted by name. If it throws, nothing was written. `target`
    /// contains the device's keys, if the order names a device; `line` is the line in a batch, or `nil` if there's none.
    package func seal(
        by sealer: Sealer, for target: Target? = nil, reserve: Int = 0, to writer: inout JSONWriter, line: AnswerLine?
    ) throws(OrderError) {
        let (recipient, keeps) = try (target ?? self.target).recipient(topic: sealer.topic)
        let payload: SealedPayload
        do throws(SealError) {
            if let keeps, let expiration { try Sealer.check(expiration, keeping: keeps, at: .now()) }
            payload = try sealer.seal(content, to: recipient.key, keeping: keeps, reserve: self.reserve ?? reserve)
        } catch { throw OrderError(error) }
        // Source: Specification 2.6.
        writer.object { sealed in
            sealed.object("headers") { headers in
                headers.string("apns-collapse-id", payload.collapseID)
                headers.string("apns-expiration", (expiration ?? payload.expires).map { String($0.secondsSince1970) })
                headers.string("apns-id", payload.apnsID)
                headers.string("apns-priority", String(payload.priority(priority).rawValue))
                headers.string("apns-push-type", payload.pushType)
                headers.string("apns-topic", payload.topic.description)
            }
            sealed.messageID("id", payload.messageID)
            sealed.integer("line", line.map { Int64($0.number) })
            sealed.string("payload", utf8: payload.json)
            sealed.integer("payloadBytes", Int64(payload.json.count))
            sealed.string("recipient", recipient.text)
            sealed.string("sender", sealer.senderText ?? SealedBy.anonymous.description)
            sealed.integer("status", line.map { Int64($0.status) })
            sealed.value("warnings", .warnings(suspects))
        }
    }
}

extension SealOrder.Target {
    /// Returns the key, and for how many days the device keeps it after a rotation, if it says so.
    fileprivate func recipient(topic: Topic) throws(OrderError) -> (KnownRecipient, keeps: Int?) {
        switch self {
        case .device:
            throw .malformed(
                "only a service can find devices by name", hint: "Give the record with its enrollment and proven keys.")
        case .enrolled(let enrolled):
            do throws(RecordError) {
                guard enrolled.record.topic == topic else { throw .otherTopic }
                let verified = try enrolled.recipient(at: .now())
                return (KnownRecipient(key: verified.recipient), verified.keeps)
            } catch { throw OrderError(error) }
        case .recipient(let given): return (given, nil)
        }
    }
}
