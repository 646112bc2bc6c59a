internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushSimulator
internal import SealedPush

/// Which extension runs, how it is configured, and what iOS gives it.
struct ExtensionOptions: ParsableArguments {
    @Option(name: .customLong("default"), help: "The safe default that the device's app shows.")
    var safeDefault = "You have a new message!"

    @Flag(help: "The app opens anonymous messages too.")
    var allowAnonymous = false

    @Option(
        name: .customLong("extension"),
        help: """
            An app's own extension: a program that calls ExtensionHost.run. Without it, the simulator's own, with long \
            texts, attachments and receipts, and no charts or templates.
            """)
    var program: String?

    @Option(
        help: """
            Seconds that the extension has: from its process's start for the first notification, from the call for later \
            ones.
            """)
    var timeLimit: Double = 30

    @Option(help: "Megabytes of its own memory that the extension may use; old devices give 12.")
    var memoryLimit = 24

    @Flag(help: "Start a process for each notification, instead of using one again.")
    var freshProcess = false

    @Flag(help: "The app may filter: an empty content shows nothing.")
    var filteringEntitlement = false

    func validate() throws {
        guard timeLimit > 0, timeLimit <= 600 else {
            throw ValidationError("--time-limit is more than 0 and at most 600 seconds.")
        }
        guard (1...4_096).contains(memoryLimit) else { throw ValidationError("--memory-limit is 1 to 4096 MB.") }
        guard VisibleText.isVisible(safeDefault) else { throw ValidationError("--default has no visible text.") }
    }

    /// The deliveries of one device.
    func delivery(to device: OwnedDevice, _ options: DeviceOptions, isLocked: Bool = false) throws -> PushDelivery {
        let ownProgram = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        return PushDelivery(
            device: SimulatedDevice(container: device.phone.container, isLocked: isLocked),
            program: program.map { ExtensionProgram(URL(filePath: $0)) }
                ?? ExtensionProgram(ownProgram, arguments: ["host-extension"]),
            standard: try standard(device, options),
            rules: ExtensionRules(
                timeLimit: .seconds(timeLimit), memoryLimit: memoryLimit << 20, reusesProcess: !freshProcess,
                hasFilteringEntitlement: filteringEntitlement))
    }

    /// What the simulator's own extension is configured with.
    func standard(_ device: OwnedDevice, _ options: DeviceOptions) throws -> StandardConfiguration {
        let trusted = try device.trusted()
        if trusted == TrustedSenders([]), program == nil {
            report(
                "no sender is trusted: name one with --trust, or list one for \(options.topic) with `sealedpush trust add`"
            )
        }
        return StandardConfiguration(
            topic: options.topic.description, senders: trusted.senders.map(\.description),
            authorities: trusted.authorities.map(\.description), safeDefault: safeDefault,
            allowsAnonymous: allowAnonymous)
    }
}
