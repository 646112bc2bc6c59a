import Foundation
import PushKeyring
import PushSender
import PushService
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@Suite("A simulated device with changing keys and senders", .serialized, .blocking) struct KeyLifeTests {
    private let device: Device
    private let keyring: Keyring

    init() throws {
        device = try Device(age: 5 * 3_600)
        keyring = Keyring(folder: device.folder.appending("Keys"))
    }

    private func seal(to recipient: DevicePublicKey, from sender: SenderPrivateKey? = nil) throws -> String {
        let sealer = Sealer(sender: sender ?? device.sender, topic: Device.topic, safeDefault: "wire default")
        return try device.file(
            sealer.seal(Content(title: "Nina", body: "Lunch at one?"), toUnverified: recipient))
    }

    private func recipient() throws -> DevicePublicKey { try keyring.unverifiedRecipient(named: "phone") }

    private func run(_ file: String, _ more: [String] = [], environment: [String: String] = [:]) throws
        -> Program.Result
    {
        try Program("device-simulator").run(device.arguments(file, more), environment: environment)
    }

    @Test("the first message to a new key confirms it, as the app would, and the old key retires")
    func confirmation() throws {
        let old = try recipient()
        try keyring.rotate("phone")
        let new = try recipient()
        let toOld = try run(seal(to: old)).delivered
        #expect(toOld.outcome == "opened" && toOld.confirmed == nil)
        #expect(try keyring.entry(named: "phone").keys.map(\.life.state) == [.active, .active])
        // A temporary device confirms nothing.
        #expect(try device.deliver(seal(to: new), state: nil).confirmed == nil)

        let toNew = try run(seal(to: new))
        #expect(toNew.delivered.outcome == "opened" && toNew.delivered.confirmed == new.keyID.description)
        #expect(toNew.errors.contains(new.keyID.description))
        #expect(try keyring.entry(named: "phone").keys.map(\.life.state) == [.active, .retired])
        #expect(try run(seal(to: new)).delivered.confirmed == nil)
        // A message sealed to the old key in time still opens.
        #expect(try device.deliver(seal(to: old)).outcome == "opened")
    }

    @Test("a phone with its app's own keys, in no keyring, opens messages, and its app confirms a new key")
    func ownKeys() throws {
        let phone = SimulatedDevice(container: device.folder.appending("Own"))
        let standard = StandardConfiguration(
            topic: Device.topic.description, senders: [], safeDefault: "d", allowsAnonymous: false)
        let app = try #require(phone.app(standard))
        func deliver(_ recipient: DevicePublicKey, keyring: String = "None") throws -> Program.Result {
            try Program("device-simulator").run([
                "deliver", try seal(to: recipient), "--device", "other", "--trust", device.sender.sender.description,
                "--topic", Device.topic.description, "--keyring", device.folder.appending(keyring).path, "--state",
                phone.container.path, "--json",
            ])
        }
        // The key is in neither place.
        #expect(try deliver(device.recipient).status == 74)
        #expect(try deliver(device.recipient, keyring: "Keys").status == 65)
        let first = try app.enroll(at: .now().advanced(bySeconds: -60)).recipients[0]
        for keyring in ["None", "Keys"] {
            let shown = try deliver(first, keyring: keyring).delivered
            #expect(shown.outcome == "opened" && shown.confirmed == nil)
        }
        let second = try app.rotate().recipients[0]
        let shown = try deliver(second)
        #expect(shown.delivered.confirmed == second.keyID.description)
        #expect(shown.errors.contains(second.keyID.description))
        #expect(try phone.rotation.active.map(\.key) == [second])
        let third = try app.revoke().recipients[0]
        for gone in [first, second] { #expect(try deliver(gone).delivered.reason == "unknown-recipient") }
        #expect(try deliver(third).delivered.outcome == "opened")
    }

    @Test("if the keyring can't be written, the message is still shown") func readOnly() throws {
        try keyring.rotate("phone")
        let file = try seal(to: recipient())
        // A folder in place of the lock file stops even root.
        let blocked = device.folder.appending("Keys/lock")
        try FileManager.default.removeItem(at: blocked)
        try FileManager.default.createDirectory(at: blocked, withIntermediateDirectories: true)
        let result = try run(file)
        #expect(result.status == 0 && result.errors.contains("can't be confirmed"))
        #expect(result.delivered.outcome == "opened" && result.delivered.confirmed == nil)
    }

    @Test("a message to a key that is revoked in the keyring shows the safe default") func revoked() throws {
        let file = try seal(to: recipient())
        try keyring.revoke("phone")
        let shown = try device.deliver(file)
        #expect(shown.reason == "unknown-recipient" && shown.body == "You have a new message!" && shown.title == nil)
    }

    @Test("a keyring's key comes from a file or the environment, never an argument") func sealed() throws {
        let key = KeyringKey()
        let text = key.withText { String(decoding: $0, as: UTF8.self) }
        try keyring.seal(with: .key(key))
        let keyFile = try device.folder.write("\(text)\n", to: "key")
        let unlocked = Keyring(folder: keyring.folder, unlocking: .given(.key(key)))
        let file = try seal(to: unlocked.unverifiedRecipient(named: "phone"))
        // The file has precedence.
        for (more, environment) in [
            (["--unlock", keyFile], [:]), ([], ["SEALED_PUSH_KEY": text]),
            (["--unlock", keyFile], ["SEALED_PUSH_KEY": "nonsense"]),
        ] {
            let shown = try run(file, more + ["--identifier", "one"], environment: environment).delivered
            #expect(shown.outcome == "opened")
        }

        let other = KeyringKey().withText { String(decoding: $0, as: UTF8.self) }
        for (arguments, environment, status) in [
            ([], [:], 77), ([], ["SEALED_PUSH_KEY": other], 77), ([], ["SEALED_PUSH_KEY": "nonsense"], 65),
            (["--unlock", "/no/such/file"], [:], 74), (["--unlock", text], [:], 64), (["--trust", text], [:], 64),
        ] as [([String], [String: String], Int32)] {
            let result = try run(file, arguments, environment: environment)
            #expect(result.status == status, "\(result.errors)")
            #expect(result.output.isEmpty && !result.errors.isEmpty)
            #expect(!result.errors.contains(text.suffix(30)) && !result.errors.contains(other.suffix(30)))
        }

        // A new key is confirmed in the sealed keyring, too.
        try unlocked.rotate("phone")
        let new = try unlocked.unverifiedRecipient(named: "phone")
        #expect(
            try run(seal(to: new), ["--unlock", keyFile]).delivered.confirmed == new.keyID.description)
    }

    @Test("while a device runs, no process has its key as an argument") func arguments() throws {
        let key = KeyringKey()
        try keyring.seal(with: .key(key))
        let text = key.withText { String(decoding: $0, as: UTF8.self) }
        let keyFile = try device.folder.write(text, to: "key")
        let push = try device.folder.write(#"{"aps":{"alert":"never","mutable-content":1}}"#, to: "push")
        let program = Program("misbehaving-extension").executable.path
        let process = try Program("device-simulator").start(
            device.arguments(push, ["--unlock", keyFile, "--extension", program, "--time-limit", "600"]))
        // The extension never answers, so both processes run until they have been looked at.
        var seen = 0
        while seen < 20, !process.hasEnded {
            let children = process.children
            for number in [process.identifier] + children {
                guard let line = try? Checkout.text(URL(filePath: "/proc/\(number)/cmdline")), !line.isEmpty else {
                    continue
                }
                seen += children.contains(number) ? 1 : 0
                #expect(!line.contains(text))
            }
            usleep(5_000)
        }
        _ = process.killChildren()
        #expect(process.wait() == .exited(0))
        #expect(seen >= 20)
    }

    @Test("a keyring sealed with a passphrase is refused, with a hint") func passphrase() throws {
        let file = try seal(to: recipient())
        try keyring.seal(with: .passphrase(try #require(Passphrase(Array("correct horse".utf8)))))
        let result = try run(file)
        #expect(result.status == 77 && result.output.isEmpty)
        #expect(result.errors.contains("64 MiB") && result.errors.contains("--new-unlock"))
    }

    @Test("the keyring's trust list counts only without --trust, and an empty list causes a remark")
    func trustList() throws {
        let recipient = try recipient()
        func deliver(_ sender: SenderPrivateKey? = nil, trusting: [String] = []) throws -> Program.Result {
            var arguments = device.arguments(try seal(to: recipient, from: sender))
            let index = try #require(arguments.firstIndex(of: "--trust"))
            arguments.removeSubrange(index...(index + 1))
            return try Program("device-simulator").run(arguments + trusting)
        }
        let empty = try deliver()
        #expect(empty.status == 0 && empty.delivered.reason == "unknown-sender")
        #expect(empty.errors.contains("no sender is trusted"))

        try keyring.trust(.sender(device.sender.sender), for: Device.topic)
        let listed = try deliver()
        #expect(listed.delivered.outcome == "opened")
        #expect(!listed.errors.contains("no sender is trusted"))
        let other = SenderPrivateKey()
        let trusting = ["--trust", other.sender.description]
        #expect(try deliver(trusting: trusting).delivered.reason == "unknown-sender")
        #expect(try deliver(other, trusting: trusting).delivered.reason == nil)
    }

    @Test("an authority pinned by name, by key, or in the list applies its sender set") func authority() throws {
        let recipient = try recipient()
        let authority = try keyring.generateAuthority(named: "board")
        try keyring.trust(.authority(authority), for: Device.topic)
        let newcomer = SenderPrivateKey()
        let set = try keyring.signSenderSet(of: [newcomer.sender], topic: Device.topic, by: "board", lifetime: 86_400)
        func reason(_ sender: SenderPrivateKey, _ more: [String]) throws -> String? {
            try device.deliver(try seal(to: recipient, from: sender), more).reason
        }
        // Every call has `--trust newsroom`.
        for board in ["board", authority.description] {
            #expect(try reason(device.sender, ["--trust", board]) == nil)
            #expect(try reason(newcomer, ["--trust", board]) == "unknown-sender")
        }
        try keyring.trust(.senderSet(set), for: Device.topic)
        for board in ["board", authority.description] {
            #expect(try reason(device.sender, ["--trust", board]) == "unknown-sender")
            #expect(try reason(newcomer, ["--trust", board]) == nil)
        }
        // Without the authority, the set has no effect.
        #expect(try reason(newcomer, []) == "unknown-sender")
    }

    @Test("trusting a sender by name trusts both its old and new keys") func senderRotation() throws {
        let recipient = try recipient()
        try keyring.rotate("newsroom")
        #expect(try device.deliver(seal(to: recipient)).outcome == "opened")
        try keyring.confirm("newsroom")
        #expect(try device.deliver(seal(to: recipient)).reason == "unknown-sender")
        let new = try keyring.senderKey(named: "newsroom")
        #expect(try device.deliver(seal(to: recipient, from: new)).outcome == "opened")
    }
}

extension Program.Result {
    /// The first delivered push.
    var delivered: Device.Delivered { Device.Delivered(object: objects.first ?? [:]) }
}

extension Device.Delivered {
    /// The new key that was confirmed.
    fileprivate var confirmed: String? { object["confirmed"] as? String }
}
