internal import NIOCore

/// The deadlines in the event loops' time unit.
@dynamicMemberLookup struct DeadlineAmounts: Sendable {
    let deadlines: APNSConfiguration.Deadlines

    subscript(dynamicMember path: KeyPath<APNSConfiguration.Deadlines, Duration>) -> TimeAmount {
        TimeAmount(deadlines[keyPath: path])
    }
}
