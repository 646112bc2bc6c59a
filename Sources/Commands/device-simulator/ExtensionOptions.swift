internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushSimulator
internal import SealedPush

/// Which extension runs, and how the simulator's own is configured.
struct ExtensionOptions: ParsableArguments {
    @Option(
        name: .customLong("extension"),
        help: ArgumentHelp(
            "An app's extension, in place of the simulator's.", valueName: "program"))
    var program: String?

    @Option(
        name: .customLong("default"),
        help: ArgumentHelp("What the simulator's extension shows if in doubt.", valueName: "text"))
    var safeDefault: String?

    @Flag(help: "The simulator's extension opens anonymous messages.") var allowAnonymous = false

    func validate() throws {
        guard safeDefault.map(VisibleText.isVisible) ?? true else {
            throw ValidationError("--default has no visible text.")
        }
    }

    /// The deliveries of one device.
    func delivery(
        to device: OwnedDevice, topic: Topic, isLocked: Bool = false, rules: ExtensionRules = ExtensionRules()
    ) -> PushDelivery {
        let ownProgram = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        return PushDelivery(
            device: SimulatedDevice(container: device.phone.container, isLocked: isLocked),
            program: program.map { ExtensionProgram(URL(filePath: $0)) }
                ?? ExtensionProgram(ownProgram, arguments: ["host-extension"]),
            standard: standard(device, topic: topic), rules: rules)
    }

    /// The configuration of the simulator's own extension.
    func standard(_ device: OwnedDevice, topic: Topic) -> StandardConfiguration {
        if device.trusted == TrustedSenders([]), program == nil {
            report("no sender is trusted: name one with --trust, or list one for \(topic) with `sealedpush trust add`")
        }
        return StandardConfiguration(
            topic: topic.description, senders: device.trusted.senders.map(\.description),
            authorities: device.trusted.authorities.map(\.description),
            safeDefault: safeDefault ?? "You have a new message!", allowsAnonymous: allowAnonymous)
    }
}

/// What iOS gives an extension, and what it does to one.
struct SystemOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The time for each message.", valueName: "seconds")) var timeLimit: Double = 30

    @Option(help: ArgumentHelp("Its own memory in MB; old devices give 12.", valueName: "mb")) var memoryLimit = 24

    @Flag(help: "The app may filter: empty content shows nothing.") var filteringEntitlement = false

    @Flag(help: "Nobody has unlocked the device since it started.") var locked = false

    @Flag(help: "iOS ends the extension before it gets a message.") var killAtStart = false

    func validate() throws {
        guard timeLimit > 0, timeLimit <= 600 else {
            throw ValidationError("--time-limit is more than 0 and at most 600 seconds.")
        }
        guard (1...4_096).contains(memoryLimit) else { throw ValidationError("--memory-limit is 1 to 4096 MB.") }
    }

    var rules: ExtensionRules {
        ExtensionRules(
            timeLimit: .seconds(timeLimit), memoryLimit: memoryLimit << 20,
            hasFilteringEntitlement: filteringEntitlement, killsAtStart: killAtStart)
    }
}
