internal import NIOCore

/// The deadlines in the event loops' time unit.
@dynamicMemberLookup struct DeadlineAmounts: Sendable {
    let deadlines: APNsConfiguration.Deadlines

    subscript(dynamicMember path: KeyPath<APNsConfiguration.Deadlines, Duration>) -> TimeAmount {
        TimeAmount(deadlines[keyPath: path])
    }
}
