public import PushSender
public import SealedPush

/// The result of registering a record that a phone submitted.
public struct RecordRegistration: Hashable, Sendable {
    /// The device as it is registered now.
    public let device: EnrolledDevice
    /// The reason why the record was refused, or `nil` if it was accepted.
    public let refusal: SealedPush.RecordError?
    /// The recipients of the previous record that aren't in this one. Messages are no longer sealed to them.
    public let dropped: [DevicePublicKey]

    init(of record: DeviceRecord, known: RegisteredDevice?, at now: Timestamp) throws(OutboxError) {
        guard case .enrolled(var enrolled)? = known?.keys else {
            do throws(SealedPush.RecordError) {
                device = try EnrolledDevice(pinning: record, topic: record.topic, at: now)
            } catch { throw .record(error) }
            (refusal, dropped) = (nil, [])
            return
        }
        let before = enrolled.record.recipients
        do throws(SealedPush.RecordError) {
            try enrolled.accept(record, at: now)
            refusal = nil
        } catch { refusal = error }
        device = enrolled
        dropped = before.filter { !enrolled.record.recipients.contains($0) }
    }
}
