public import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import PushOutbox
public import PushSender
internal import SealedPush

struct DeviceEnrollCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enroll", abstract: "Register or update one or more devices.",
        discussion: """
            Uses the device's newest signed record and proven keys from the keyring (`keys import`, `keys challenge`). \
            Enroll it again whenever the app reports its token, and after each new record.

            A --list has one JSON object per line, with "device" and "token", and, if they differ from the options, "user", \
            "key", "environment", and "movingFrom". Lines without "token" are skipped. A list printed by `device list --full \
            --json` needs no keyring, but only the outbox it came from vouches for it.

            Another user's device needs --moving-from, which discards its waiting messages. A device with a different \
            pinned enrollment key is refused; remove it first.

            Examples:
              sealedpush device enroll bob-phone --user bob --token 80fa... --keyring Keys
              sealedpush device enroll --list tokens.jsonl --keyring Keys

            Exit status: 0 done, 64 usage, 65 input, 74 files, 75 busy, 77 keys.
            """)

    @Argument(help: "The device's name, as in the keyring.") var name: DeviceName?

    @Option(help: .value("hex", "The token that iOS gave the app.")) var token: String?

    @Option(parsing: .unconditional, help: .value("name", "The user. Default: unchanged, or the device's name."))
    var user: UserName?

    @Option(parsing: .unconditional, help: .value("name", "The previous user, if different."))
    var movingFrom: UserName?

    @Option(help: .value("name", "Name in the keyring, or push1… or pushpq.… with --unverified."))
    var key: KeyReference?

    @Flag(help: "Allow a key without a record; `send` needs it too.") var unverified = false

    @Option(help: "The app's bundle ID, with --unverified.") var topic: Topic?

    @Option(help: .value("name", "Apple's service.")) var environment: PushEnvironment?

    @Option(help: .value("file", "A list of devices; - for standard input.")) var list: String?

    @Flag(help: "Print one JSON object.") var json = false

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions
    @OptionGroup(title: "Outbox") var options: OutboxOptions

    func validate() throws {
        guard list == nil ? name != nil && token != nil : name == nil && token == nil
        else { throw ValidationError("Specify either NAME and --token, or --list.") }
        guard list == nil || key == nil else {
            throw ValidationError("--key is for one device; leave it out with --list.")
        }
        guard !unverified || topic != nil
        else { throw ValidationError("--unverified needs --topic, because no record specifies the key's app.") }
    }

    func run() async throws {
        var entries = try list.map(EnrollmentList.read) ?? []
        if let name, let token { entries = [EnrollmentList.Entry(device: name, token: token)] }
        guard !entries.isEmpty else { throw CommandFailure.input("\(list ?? "") contains no device with a token") }
        let now = Timestamp.now()
        let keys = entries.allSatisfy { $0.enrolled != nil } ? nil : try keyring.newKeys("device enroll")
        // Create the outbox only after all input has been checked.
        let checked = try entries.map { entry in
            do { return try device(entry, in: keys, at: now) } catch {
                guard let list, let failure = CommandFailure(error) else { throw error }
                throw failure.saying(before: "\(list), line \(entry.line): ")
            }
        }
        let outbox = try await options.openedOrMade()
        var changes: [(device: DeviceName, change: RegistrationChange)] = []
        for start in stride(from: 0, to: checked.count, by: 1_000) {
            let part = checked[start..<min(start + 1_000, checked.count)]
            var batch: [RegisteredDevice] = []
            for device in part { batch.append(try await device.completed(in: outbox)) }
            let moving = Dictionary(
                part.compactMap { device in device.movingFrom.map { (device.name, $0) } }, uniquingKeysWith: { $1 })
            let answers: [RegistrationChange]
            do throws(OutboxError) { answers = try await outbox.register(batch, movingFrom: moving) } catch {
                let so = ". Enrolled so far: \(start.grouped) of \(checked.count.grouped); run the command again"
                throw CommandFailure(error).saying(after: start > 0 ? so : "")
            }
            changes += zip(batch, answers).map { (device: $0.name, change: $1) }
        }
        try report(changes)
    }

    private func report(_ changes: [(device: DeviceName, change: RegistrationChange)]) throws {
        let newCount = changes.count { $0.change.isNew }
        let discardedCount = changes.reduce(0) { $0 + $1.change.discardedCount }
        let losers = changes.compactMap { device, change in
            change.addressTakenFrom.map { (loser: $0, winner: device) }
        }
        if json {
            return try Output.json([
                "devices": .count(changes.count), "new": .count(newCount), "discarded": .count(discardedCount),
                "lostToken": .array(losers.map { .text($0.loser) }),
            ])
        }
        if let name {
            try Output.line("\(newCount == 1 ? "Enrolled" : "Updated") \(TerminalText.printable(name)).")
        } else {
            try Output.line("Enrolled: \(newCount.grouped); updated: \((changes.count - newCount).grouped).")
        }
        for (loser, winner) in losers {
            let names = [loser, winner].map { TerminalText.printable($0) }
            try Output.line("\(names[0]) lost its token to \(names[1]); a token belongs to only one device.")
        }
        if discardedCount > 0 { try Output.line("Discarded pushes for previous users: \(discardedCount.grouped).") }
    }

    private func device(_ entry: EnrollmentList.Entry, in keys: Keyring?, at now: Timestamp) throws -> CheckedDevice {
        guard let token = DeviceToken(parsing: entry.token)
        else {
            throw CommandFailure.input(
                "\(entry.device): a token must have 2 to 200 hexadecimal digits, and an even number of them")
        }
        let known: (keys: RegisteredKeys, topic: Topic)
        if let enrolled = entry.enrolled {
            known = (.enrolled(enrolled), enrolled.record.topic)
        } else {
            guard let keys else { preconditionFailure("a keyring is opened for each list that needs one") }
            known = try deviceKeys(entry, in: keys)
        }
        guard topic.map({ $0 == known.topic }) ?? true
        else {
            throw CommandFailure.input(
                "\(entry.device) is enrolled for \(known.topic), not for \(topic ?? known.topic)")
        }
        return CheckedDevice(
            name: entry.device, user: entry.user ?? user, movingFrom: entry.movingFrom ?? movingFrom,
            environment: entry.environment ?? environment, topic: known.topic, keys: known.keys, token: token,
            registered: entry.registered ?? now)
    }

    private func deviceKeys(
        _ entry: EnrollmentList.Entry, in keys: Keyring
    ) throws -> (keys: RegisteredKeys, topic: Topic) {
        let name: KeyName
        switch try key ?? entry.key ?? KeyReference(reading: entry.device.description) {
        case .text(let text):
            let recipient = try text.recipient(isUnverifiedAllowed: unverified)
            guard let topic else { throw CommandFailure.usage("--topic is needed for an unverified key") }
            return (.unverified(recipient), topic)
        case .name(let given): name = given
        }
        try keyring.willChoose(in: keys)
        if unverified, let topic { return (.unverified(try keys.unverifiedRecipient(named: name)), topic) }
        do {
            let enrolled = try keys.enrolledDevice(named: name)
            return (.enrolled(enrolled), enrolled.record.topic)
        } catch KeyringError.unverified(let name) {
            throw CommandFailure.input(
                "the key of \(name) is unverified; import its signed record, or use --unverified; your own device has a record if it was generated with --topic"
            )
        }
    }
}

/// A device as specified, before it's compared with its registration in the outbox.
private struct CheckedDevice {
    let name: DeviceName
    let user: UserName?
    let movingFrom: UserName?
    let environment: PushEnvironment?
    let topic: Topic
    let keys: RegisteredKeys
    let token: DeviceToken
    let registered: Timestamp

    /// Returns the registration; details that weren't given keep their current values in the outbox.
    func completed(in outbox: Outbox) async throws -> RegisteredDevice {
        let known = user == nil || environment == nil ? try await outbox.device(name) : nil
        let environment = environment ?? known?.address.carrier.environment ?? .production
        guard let user = user ?? known?.user ?? UserName(parsing: name.description)
        else { throw CommandFailure.usage("\(name) is not a valid user name; give one with --user") }
        return RegisteredDevice(
            name: name, user: user, topic: topic, keys: keys,
            address: .active(.apns(token, environment), registered: registered))
    }
}

/// A file of devices, with one JSON object per line.
enum EnrollmentList {
    struct Entry {
        var line = 1
        var device: DeviceName
        var token: String
        var user: UserName? = nil
        var key: KeyReference? = nil
        var environment: PushEnvironment? = nil
        var movingFrom: UserName? = nil
        var registered: Timestamp? = nil
        /// The keys, as written by `device list --full`; nil if they come from the keyring.
        var enrolled: EnrolledDevice? = nil
    }

    /// Reads at most 1 GB, in lines of at most 65,536 bytes. Memory is used only for the entries. Skips lines without a token,
    /// because a device may not have one yet, and a list may contain other objects.
    static func read(_ file: String) throws -> [Entry] {
        do {
            return try entries(of: file)
        } catch let error as DurableFiles.Failure {
            guard error.code != EFBIG else {
                throw CommandFailure.input("\(file) is larger than \(maximumByteCount) bytes")
            }
            throw CommandFailure.file("\(file): \(error.message)")
        }
    }

    private static func entries(of file: String) throws -> [Entry] {
        var reader = try LineReader(
            InputFile.place(file), limit: maximumLineByteCount, totalLimit: maximumByteCount, anyKind: true)
        var entries: [Entry] = []
        var number = 0
        while let line = try reader.next() {
            number += 1
            guard line.count <= maximumLineByteCount
            else { throw CommandFailure.input("\(file), line \(number): longer than \(maximumLineByteCount) bytes") }
            guard !JSONReader.isBlank(line) else { continue }
            let members: [String: JSONValue]
            do throws(JSONFault) { members = try JSONReader.members(line.withoutByteOrderMark).dictionary } catch {
                throw CommandFailure.input("\(file), line \(number): not one JSON object: \(error.placeInLine)")
            }
            guard let token = members["token"], token != .null else { continue }
            guard var entry = try? Entry(members) else {
                throw CommandFailure.input(
                    "\(file), line \(number): needs \"device\" and \"token\" as strings; \"environment\" must be production or sandbox; \"enrollment\", \"record\", and \"proven\" must be given together"
                )
            }
            entry.line = number
            entries.append(entry)
        }
        return entries
    }

    private static let maximumByteCount = 1_000_000_000
    private static let maximumLineByteCount = 65_536
}

extension EnrollmentList.Entry {
    private struct Malformed: Error {}

    /// - Throws: `Malformed` if a member has the wrong type or value. A null member counts as missing.
    fileprivate init(_ members: [String: JSONValue]) throws {
        let given = members.filter { $0.value != .null }
        func parsed<Value>(_ name: String, _ parse: (String) throws -> Value?) throws -> Value? {
            guard let member = given[name] else { return nil }
            guard let value = try member.string.flatMap(parse) else { throw Malformed() }
            return value
        }
        guard let device = try parsed("device", DeviceName.init(parsing:)), let token = try parsed("token", { $0 })
        else { throw Malformed() }
        self.init(
            device: device, token: token, user: try parsed("user", UserName.init(parsing:)),
            key: try parsed("key", KeyReference.init(argument:)),
            environment: try parsed("environment", PushEnvironment.init(rawValue:)),
            movingFrom: try parsed("movingFrom", UserName.init(parsing:)),
            registered: given["registered"]?.integer.flatMap(Timestamp.init(secondsSince1970:)))
        guard given["registered"] == nil || registered != nil else { throw Malformed() }
        let enrollment = try parsed("enrollment") { try EnrollmentPublicKey(parsing: $0) }
        let record = try parsed("record") { try DeviceRecord(parsing: $0) }
        switch (enrollment, record, given["proven"]) {
        case (nil, nil, nil): break
        case (let enrollment?, let record?, .array(let proven)?):
            enrolled = try EnrolledDevice(
                loading: enrollment, record: record,
                proven: proven.map { try DevicePublicKey(parsing: $0.string ?? "") })
        default: throw Malformed()
        }
    }
}

extension PushEnvironment: ExpressibleByArgument {}
