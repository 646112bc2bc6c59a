public import ArgumentParser
internal import CommandSupport
internal import Foundation
internal import PushCore
internal import PushKeyring
internal import PushOutbox
public import PushSender

struct SealCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal", abstract: "Seal content for one device and print the payload.",
        discussion: """
            The content is JSON: {"alert":{"title":"Nina","body":"Lunch at one?"}}. With --batch, each line is one \
            message and gets one line in reply; see Sealing in Docs/openapi.yaml.

            Examples:
              sealedpush seal content.json --from newsroom --to alice-phone --topic app.id
              sealedpush seal --batch - --from newsroom --topic app.id < lines > pushes
            """)

    @Argument(help: ContentFile.help) var file: String

    @Option(help: "A device's name, or push1… or pushpq.… with --unverified.") var to: KeyReference?

    @Flag(help: "Seal each line; exit with 65 if any line fails.") var batch = false

    @Option(help: .value("count", "Bytes to leave free; aioapns needs 6.")) var reserve = 0

    @Flag(help: "Seal to a key without a signed record.") var unverified = false

    @Option(help: "The sender: a name in the keyring.") var from: KeyName?

    @Flag(help: "Seal without a sender.") var anonymous = false

    @OptionGroup(title: "Sealing") var sealing: SealingOptions

    @Option(help: "A new file for the payload.") var output: String?

    @Option(help: .value("url", "The https URL of a file for oversize content.")) var overflow: FileAddress?

    @Option(help: .value("file", "A new file, to be stored there if needed.")) var overflowOutput: String?

    @Flag(help: "Print one JSON object: the payload and its headers.") var json = false

    @Option(help: .value("name", "The device for sealed_push.enqueue; needs --json.")) var device: DeviceName?

    @Option var priority = PushPriority.immediate

    @Option(help: .value("file", "The outbox's key, if it has one; needs --device.")) var outboxKey: String?

    @OptionGroup(title: "Keyring") var keyring: KeyringOptions

    func validate() throws {
        guard anonymous != (from != nil) else { throw ValidationError("Use either --from NAME or --anonymous.") }
        guard sealing.receipts == nil || !anonymous else {
            throw ValidationError("--receipts needs a sender; devices send receipts only for authenticated messages.")
        }
        guard !sealing.requireHybrid || !anonymous
        else {
            throw ValidationError("--require-hybrid needs a sender; anonymous messages can't be sealed to hybrid keys.")
        }
        guard (overflow == nil) == (overflowOutput == nil)
        else { throw ValidationError("Use --overflow and --overflow-output together.") }
        guard (0...Sealer.maximumReserve).contains(reserve) else {
            throw ValidationError("--reserve must be 0 to 1024.")
        }
        guard reserve == 0 || overflow == nil else { throw ValidationError("Use either --reserve or --overflow.") }
        guard batch == (to == nil) else {
            throw ValidationError(
                batch ? "With --batch, each line names its recipient; leave out --to." : "Use --to or --batch.")
        }
        guard device == nil || json else { throw ValidationError("--device needs --json.") }
        guard device != nil || (priority == .immediate && outboxKey == nil)
        else { throw ValidationError("--priority and --outbox-key need --device.") }
        guard !batch || (overflow == nil && output == nil && !json) else {
            throw ValidationError("--batch prints lines of JSON; leave out --overflow, --output, and --json.")
        }
    }

    func run() throws {
        try requireNewFiles()
        let keys = try keyring.newKeys("seal")
        guard let to else { return try sealLines(keys) }
        let (recipient, keeps) = try recipient(to, in: keys)
        let sealer = try sealing.sealer(from: from, keys, keyring)
        let given = try ContentFile.read(file)
        let moved = try overflow.flatMap { try sealer.moveOverflow(of: given, at: $0.url, for: recipient) }
        let content = moved?.content ?? given
        let payload = try sealer.seal(content, to: recipient, keeping: keeps, reserve: reserve)
        ContentFile.warn(of: content)
        let files = try store(payload.json, overflow: moved?.file)
        try OutputFile.removing(files) { try show(payload, from: sealer) }
    }

    private func show(_ payload: SealedPayload, from sealer: Sealer) throws {
        if json {
            let arguments = try device.map { device in
                EnqueueArguments(
                    payload, from: sealer, for: device, priority: priority,
                    outboxKey: try outboxKey.map(OutboxOptions.key))
            }
            return try Output.json(payload.facts(priority, arguments))
        }
        if output == nil { try OutputFile.print(payload.json + [UInt8(ascii: "\n")]) }
    }

    private static let pieceByteCount = 65_536

    /// Seals each line of the file. Memory doesn't grow with the number of lines, except for the contexts that a sealer keeps.
    private func sealLines(_ keys: Keyring) throws {
        let sealing = SealBatch(
            from: try sealing.sealer(from: from, keys, keyring), reserve: reserve, isUnverifiedAllowed: unverified)
        var (number, failedCount) = (0, 0)
        var answers = JSONWriter(reservingByteCount: 2 * Self.pieceByteCount)
        do {
            var reader = try LineReader(
                InputFile.place(file), limit: SealBatch.maximumLineByteCount, anyKind: true)
            while let line = try reader.next() {
                number += 1
                guard !JSONReader.isBlank(line) else { continue }
                if !sealing.answer(line, number, to: &answers) { failedCount += 1 }
                guard answers.byteCount > Self.pieceByteCount else { continue }
                try OutputFile.print(answers.bytes)
                answers.removeAll()
            }
        } catch let error as DurableFiles.Failure { throw CommandFailure.file("\(file): \(error.message)") }
        try OutputFile.print(answers.bytes)
        guard failedCount == 0 else {
            throw CommandFailure.input("lines not sealed: \(failedCount.grouped); see the output for the reasons")
        }
    }

    /// Refuses names that can't be written to before a keyring is unlocked.
    private func requireNewFiles() throws {
        for file in [output, overflowOutput].compactMap(\.self) { try OutputFile.requireNew(file) }
        guard output == nil || output != overflowOutput else {
            throw CommandFailure.usage("--output and --overflow-output are the same file; use different ones")
        }
    }

    /// Writes the files after the push has been sealed: all of them, or none if one can't be written. Returns their names.
    private func store(_ payload: [UInt8], overflow file: [UInt8]?) throws -> [String] {
        var files: [String] = []
        if let file, let overflowOutput, let url = overflow?.url {
            try OutputFile.create(overflowOutput, file, mode: 0o666)
            files.append(overflowOutput)
            CommandFailure.report(
                """
                store \(overflowOutput) (\(file.count.grouped) bytes) at \(url.absoluteString) before you send; \
                the push itself carries only the start of the text
                """)
        }
        if let output {
            try OutputFile.removing(files) { try OutputFile.create(output, payload, mode: 0o666) }
            files.append(output)
        }
        return files
    }

    /// Returns the key to seal to: one that a signed record vouches for, or any key with --unverified.
    private func recipient(_ to: KeyReference, in keys: Keyring) throws -> (key: DevicePublicKey, keeps: Int?) {
        let name: KeyName
        switch to {
        case .text(let text): return (try text.recipient(isUnverifiedAllowed: unverified), nil)
        case .name(let given): name = given
        }
        try keyring.willChoose(in: keys)
        let entry = try keys.authenticEntry(named: name)
        if let enrolled = entry.topic, enrolled != sealing.topic {
            throw CommandFailure.input(
                "\(name) is enrolled for \(enrolled), so it can't open messages sealed for \(sealing.topic)")
        }
        guard !unverified else { return (try keys.unverifiedRecipient(named: name), nil) }
        let verified = try keys.recipient(named: name)
        return (verified.recipient, verified.keeps)
    }
}

extension SealedPayload {
    /// Specification 2.6: the parts of a request to Apple.
    fileprivate func facts(_ wanted: PushPriority, _ enqueue: EnqueueArguments?) -> JSONValue {
        var facts: [String: JSONValue] = [
            "payload": .string(String(decoding: json, as: UTF8.self)), "payloadBytes": .count(json.count),
            "topic": .text(topic), "apnsID": .string(apnsID), "collapseID": .string(collapseID), "id": .text(messageID),
            "recipient": .text(recipient), "expires": .seconds(expires),
            "pushType": .string(pushType), "priority": .count(priority(wanted).rawValue),
        ]
        facts["enqueue"] = enqueue?.json
        return .object(facts)
    }
}

extension PaddingPolicy: ExpressibleByArgument {}
extension FitPolicy: ExpressibleByArgument {}
