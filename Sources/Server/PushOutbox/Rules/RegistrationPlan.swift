/// The changes that a store makes to register a device, in order.
package struct RegistrationPlan: Hashable, Sendable {
    let isNew: Bool
    /// The device whose address is taken, unless its name isn't valid.
    let addressTakenFrom: DeviceName?
    package let steps: [RegistrationStep]

    /// Returns the report for the caller. `discardedCount` is the number of pushes discarded by all steps.
    package func change(discarding discardedCount: Int) -> RegistrationChange {
        RegistrationChange(isNew: isNew, discardedCount: discardedCount, addressTakenFrom: addressTakenFrom)
    }
}
