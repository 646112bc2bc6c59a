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

    @Option(parsing: .unconditional, help: .value("name", "The user before, if it was another."))
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
        guard list == nil ? name != nil && token != nil : name == nil && token == nil
        else { throw ValidationError("Give either NAME and --token, or --list.") }
        guard list == nil || key == nil else { throw ValidationError("--key is for one device: leave out --list.") }
        guard !unverified || topic != nil
        else { throw ValidationError("--topic is needed: nothing says which app an unverified key is of.") }
    }

    func run() async throws {
        var entries = try list.map(EnrollmentList.read) ?? []
        if let name, let token { entries = [EnrollmentList.Entry(device: name, token: token)] }
        guard !entries.isEmpty else { throw Failure.input("\(list ?? "") names no device with a token") }
        let now = Timestamp.now()
        let keys = entries.allSatisfy { $0.enrolled != nil } ? nil : try keyring.newKeys("device enroll")
        // The outbox is made once the input is known to be good.
        let checked = try entries.map { entry in
            do { return try device(entry, in: keys, at: now) } catch {
                guard let list, let failure = Failure(error) else { throw error }
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
                let so = ". Enrolled so far: \(start.grouped) of \(checked.count.grouped); run it again"
                throw Failure(error).saying(after: start > 0 ? so : "")
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
            try Output.line("\(names[0]) has lost its token to \(names[1]): one installation has one.")
        }
        if discardedCount > 0 { try Output.line("Discarded, as meant for someone else: \(discardedCount.grouped).") }
    }

    private func device(_ entry: EnrollmentList.Entry, in keys: Keyring?, at now: Timestamp) throws -> CheckedDevice {
        guard let token = DeviceToken(parsing: entry.token)
        else { throw Failure.input("\(entry.device): a token is 2 to 200 hexadecimal digits, as the app prints it") }
        let known: (keys: PushOutbox.DeviceKeys, topic: Topic)
        if let enrolled = entry.enrolled {
            known = (.enrolled(enrolled), enrolled.record.topic)
        } else {
            guard let keys else { preconditionFailure("a keyring is opened for each list that needs one") }
            known = try deviceKeys(entry, in: keys)
        }
        guard topic.map({ $0 == known.topic }) ?? true
        else { throw Failure.input("\(entry.device) is enrolled for \(known.topic), not for \(topic ?? known.topic)") }
        return CheckedDevice(
            name: entry.device, user: entry.user ?? user, movingFrom: entry.movingFrom ?? movingFrom,
            environment: entry.environment ?? environment, topic: known.topic, keys: known.keys, token: token,
            registered: entry.registered ?? now)
    }

    private func deviceKeys(
        _ entry: EnrollmentList.Entry, in keys: Keyring
    ) throws -> (keys: PushOutbox.DeviceKeys, topic: Topic) {
        let name: KeyName
        switch try key ?? entry.key ?? KeyReference(reading: entry.device.description) {
        case .text(let text):
            let recipient = try text.recipient(isUnverifiedAllowed: unverified)
            guard let topic else { throw Failure.usage("--topic is needed for an unverified key") }
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
        guard let user = user ?? known?.user ?? UserName(parsing: name.description)
        else { throw Failure.usage("\(name) is not a valid user name: give one with --user") }
        return RegisteredDevice(
            name: name, user: user, topic: topic, keys: keys,
            address: .active(.apns(token, environment), registered: registered))
    }
}

/// A file of devices, one JSON object a line.
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
        /// As `device list --full` has written them; nil if the keyring has them.
        var enrolled: EnrolledDevice? = nil
    }

    /// At most 1 GB, in lines of at most 65,536 bytes; takes memory for the entries alone. Lines without a token are left
    /// out: a device may have none yet, and lists may hold other things.
    static func read(_ file: String) throws -> [Entry] {
        do {
            return try entries(of: file)
        } catch let error as DurableFiles.Failure {
            guard error.code != EFBIG else { throw Failure.input("\(file) has more than \(maximumByteCount) bytes") }
            throw Failure.file("\(file): \(error.message)")
        }
    }

    private static func entries(of file: String) throws -> [Entry] {
        var reader = try LineReader(
            URL(filePath: file == "-" ? "/dev/stdin" : file), limit: maximumLineByteCount,
            totalLimit: maximumByteCount, anyKind: true)
        var entries: [Entry] = []
        var number = 0
        while let line = try reader.next() {
            number += 1
            guard line.count <= maximumLineByteCount
            else { throw Failure.input("\(file), line \(number): longer than \(maximumLineByteCount) bytes") }
            guard !JSONReader.isBlank(line) else { continue }
            let members: [String: JSONValue]
            do throws(JSONFault) { members = try JSONReader.members(line.withoutByteOrderMark).dictionary } catch {
                throw Failure.input("\(file), line \(number): not one JSON object: \(error.placeInLine)")
            }
            guard let token = members["token"], token != .null else { continue }
            guard var entry = try? Entry(members) else {
                throw Failure.input(
                    "\(file), line \(number): needs \"device\" and \"token\" as text; \"environment\" is production or sandbox; \"enrollment\", \"record\" and \"proven\" go together"
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

    /// - Throws: for a member that is not what it should be. One that is null is not there.
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
