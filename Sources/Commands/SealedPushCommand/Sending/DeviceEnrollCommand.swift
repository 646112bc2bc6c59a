public import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import PushOutbox
public import PushSender
internal import SealedPush

/// `sealedpush device enroll`
struct DeviceEnrollCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enroll", abstract: "Register or update a device, or many.",
        discussion: """
            The keyring has the device's newest signed record, and the keys that it has proven (`keys import`, `keys \
            challenge`). Enroll again whenever the app reports its token, and after each new record.

            A --list has one JSON object a line, with "device" and "token", and, if they differ from the options, "user", \
            "key", "environment" and "movingFrom". Lines without "token" are skipped. A list that `device list --full \
            --json` printed needs no keyring; only the outbox it came from vouches for it.

            Another user's device is refused without --moving-from, and its waiting messages are discarded with it. A device \
            with another pinned enrollment key is refused: remove it first.

            Examples:
              sealedpush device enroll bob-phone --user bob --token 80fa... --keyring Keys
              sealedpush device enroll --list tokens.jsonl --keyring Keys

            Exit status: 0 done, 64 usage, 65 input, 74 files, 75 busy, 77 keys.
            """)

    @Argument(help: "The device's name, as in the keyring.") var name: DeviceName?

    @Option(help: .value("hex", "The token that the app got from iOS.")) var token: String?

    @Option(parsing: .unconditional, help: .value("name", "The user. Default: as before, or the device's name."))
    var user: UserName?

    @Option(
        parsing: .unconditional,
        help: .value("name", "The user before, if it was another."))
    var movingFrom: UserName?

    @Option(help: .value("name", "Its name in the keyring, or push1… with --unverified.")) var key: KeyReference?

    @Flag(help: "Take a key without a record; `send` needs this, too.") var unverified = false

    @Option(help: "The app's bundle ID, with --unverified.") var topic: Topic?

    @Option(help: .value("name", "Apple's service.")) var environment: PushEnvironment?

    @Option(help: .value("file", "Many devices; - for standard input.")) var list: String?

    @Flag(help: "Print one JSON object.") var json = false

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions
    @OptionGroup(title: "Outbox") var options: OutboxOptions

    func validate() throws {
        guard list == nil ? name != nil && token != nil : name == nil && token == nil else {
            throw ValidationError("Give either NAME and --token, or --list.")
        }
        guard list == nil || key == nil else { throw ValidationError("--key is for one device: leave out --list.") }
        guard !unverified || topic != nil else {
            throw ValidationError("--topic is needed: nothing says which app an unverified key is of.")
        }
    }

    func run() async throws {
        try await Failure.reportingAsync {
            let now = Timestamp.now()
            var report = Report()
            if let list {
                let entries = try EnrollmentList.read(list)
                guard !entries.isEmpty else { throw Failure.input("\(list) names no device with a token") }
                let keys = entries.allSatisfy { $0.enrolled != nil } ? nil : try keyring.newKeys("device enroll")
                // The outbox is made once the input is known to be good.
                let checked = try entries.map { try device($0, in: keys, at: now) }
                let outbox = try await options.openedOrMade()
                for start in stride(from: 0, to: checked.count, by: 1_000) {
                    let part = checked[start..<min(start + 1_000, checked.count)]
                    var batch: [RegisteredDevice] = []
                    for device in part { batch.append(try await device.completed(in: outbox)) }
                    let moving = Dictionary(
                        part.compactMap { device in device.movingFrom.map { (device.name, $0) } },
                        uniquingKeysWith: { $1 })
                    for (device, change) in zip(batch, try await outbox.register(batch, movingFrom: moving)) {
                        report.add(change, of: device.name)
                    }
                }
            } else {
                let entry = EnrollmentList.Entry(device: name.map { "\($0)" } ?? "", token: token ?? "")
                let checked = try device(entry, in: keyring.newKeys("device enroll"), at: now)
                let outbox = try await options.openedOrMade()
                let device = try await checked.completed(in: outbox)
                report.add(try await outbox.register(device, movingFrom: checked.movingFrom), of: device.name)
            }
            try report.print(json: json, name: name)
        }
    }

    private func device(_ entry: EnrollmentList.Entry, in keys: Keyring?, at now: Timestamp) throws -> CheckedDevice {
        guard let token = DeviceToken(parsing: entry.token) else {
            throw Failure.input("\(entry.device): a token is 2 to 200 hexadecimal digits, as the app prints it")
        }
        let known: (keys: PushOutbox.DeviceKeys, topic: Topic)
        if let enrolled = entry.enrolled {
            known = (.enrolled(enrolled), enrolled.record.topic)
        } else {
            guard let keys else { preconditionFailure("a keyring is opened for each list that needs one") }
            known = try deviceKeys(entry, in: keys)
        }
        guard topic.map({ $0 == known.topic }) ?? true else {
            throw Failure.input("\(entry.device) is enrolled for \(known.topic), not for \(topic ?? known.topic)")
        }
        return CheckedDevice(
            name: try OutboxOptions.device(entry.device), user: try entry.user.map(OutboxOptions.user) ?? user,
            movingFrom: try entry.movingFrom.map(OutboxOptions.user) ?? movingFrom,
            environment: entry.environment ?? environment, topic: known.topic, keys: known.keys, token: token,
            registered: entry.registered ?? now)
    }

    private func deviceKeys(
        _ entry: EnrollmentList.Entry, in keys: Keyring
    ) throws -> (keys: PushOutbox.DeviceKeys, topic: Topic) {
        let name: KeyName
        switch try key ?? KeyReference(reading: entry.key ?? entry.device) {
        case .text(let text):
            let recipient = try text.parsed(DevicePublicKey.init(parsing:))
            guard unverified, let topic else {
                throw Failure.usage(
                    "nobody vouches for a key that is given as text: import its record, or say --unverified")
            }
            return (.unverified(recipient), topic)
        case .name(let given): name = given
        }
        try keyring.willChoose(in: keys)
        if unverified, let topic { return (.unverified(try keys.unverifiedRecipient(named: name)), topic) }
        do {
            let enrolled = try keys.enrolledDevice(named: name)
            return (.enrolled(enrolled), enrolled.record.topic)
        } catch KeyringError.unverified(let name) {
            throw Failure.input(
                "nobody vouches for the key of \(name): import its signed record, or say --unverified; a device of your own has a record if it was made with --topic"
            )
        }
    }
}

/// A device as it was given, before it is known what the outbox has of it.
private struct CheckedDevice {
    let name: DeviceName
    let user: UserName?
    let movingFrom: UserName?
    let environment: PushEnvironment?
    let topic: Topic
    let keys: PushOutbox.DeviceKeys
    let token: DeviceToken
    let registered: Timestamp

    /// What was not given stays as it was.
    func completed(in outbox: Outbox) async throws -> RegisteredDevice {
        let known = user == nil || environment == nil ? try await outbox.device(name) : nil
        let environment = environment ?? known?.address.carrier.environment ?? .production
        return RegisteredDevice(
            name: name, user: try user ?? known?.user ?? OutboxOptions.user(name.description), topic: topic,
            keys: keys, address: .active(.apns(token, environment), registered: registered))
    }
}

extension DeviceEnrollCommand {
    /// What has changed.
    fileprivate struct Report {
        private var newCount = 0
        private var count = 0
        private var discardedCount = 0
        private var losers: [(loser: DeviceName, winner: DeviceName)] = []

        mutating func add(_ change: RegistrationChange, of name: DeviceName) {
            if let loser = change.addressTakenFrom { losers.append((loser, name)) }
            count += 1
            if change.isNew { newCount += 1 }
            discardedCount += change.discardedCount
        }

        func print(json: Bool, name: DeviceName?) throws {
            if json {
                return try Output.json([
                    "devices": .integer(Int64(count)), "new": .integer(Int64(newCount)),
                    "discarded": .integer(Int64(discardedCount)),
                    "lostToken": .array(losers.map { .string($0.loser.description) }),
                ])
            }
            if let name {
                try Output.line(
                    "\(newCount == 1 ? "Enrolled" : "Updated") \(TerminalText.printable(name.description)).")
            } else {
                try Output.line(
                    "Enrolled: \(Progress.number(newCount)); updated: \(Progress.number(count - newCount)).")
            }
            for (loser, winner) in losers {
                let names = [loser, winner].map { TerminalText.printable($0.description) }
                try Output.line("\(names[0]) has lost its token to \(names[1]): one installation has one.")
            }
            if discardedCount > 0 {
                try Output.line("Discarded, as meant for someone else: \(Progress.number(discardedCount)).")
            }
        }
    }
}

extension PushEnvironment: ExpressibleByArgument {}
