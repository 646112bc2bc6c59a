internal import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushSimulator
internal import SealedPush

/// The options that select the extension, and configure the simulator's own.
struct ExtensionOptions: ParsableArguments {
    @Option(name: .customLong("extension"), help: .value("program", "An app's extension, instead of the simulator's."))
    var program: String?

    @Option(name: .customLong("default"), help: .value("text", "The safe default of the simulator's extension."))
    var safeDefault: String?

    @Flag(help: "Let the simulator's extension open anonymous messages.") var allowAnonymous = false

    func validate() throws {
        guard safeDefault.map(VisibleText.isVisible) ?? true else {
            throw ValidationError("--default has no visible text.")
        }
    }

    /// Returns the object that delivers pushes to one device.
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

    /// Returns the configuration of the simulator's own extension.
    func standard(_ device: OwnedDevice, topic: Topic) -> StandardConfiguration {
        if device.trusted == TrustedSenders([]), program == nil {
            report("no sender is trusted; name one with --trust, or add one for \(topic) with `sealedpush trust add`")
        }
        return StandardConfiguration(
            topic: topic.description, senders: device.trusted.senders.map(\.description),
            authorities: device.trusted.authorities.map(\.description),
            safeDefault: safeDefault ?? "You have a new message!", allowsAnonymous: allowAnonymous)
    }
}

/// The options for iOS's limits and treatment of an extension.
struct SystemOptions: ParsableArguments {
    @Option(help: .value("seconds", "Time limit per message.")) var timeLimit: Double = 30

    @Option(help: .value("mb", "Memory limit in MB; old devices: 12.")) var memoryLimit = 24

    @Flag(help: "Let the app filter: empty content isn't shown.") var filteringEntitlement = false

    @Flag(help: "Simulate a device not unlocked since it started.") var locked = false

    @Flag(help: "End the extension before it gets a message.") var killAtStart = false

    func validate() throws {
        guard timeLimit > 0, timeLimit <= 600 else {
            throw ValidationError("--time-limit must be more than 0 and at most 600 seconds.")
        }
        guard (1...4_096).contains(memoryLimit) else { throw ValidationError("--memory-limit must be 1 to 4096 MB.") }
    }

    var rules: ExtensionRules {
        ExtensionRules(
            timeLimit: .seconds(timeLimit), memoryLimit: memoryLimit << 20,
            hasFilteringEntitlement: filteringEntitlement, killsAtStart: killAtStart)
    }
}
