// error: to expected argument type 'SenderSet' (aka 'SignedList<SenderRole>')
import SealedPush

/// A device's record and a sender set have the same layout.
func accept(_ record: DeviceRecord, _ trusted: TrustedSenders, _ topic: Topic) throws {
    try trusted.check(record, topic: topic, replacing: nil, at: .now())  // refused
}
