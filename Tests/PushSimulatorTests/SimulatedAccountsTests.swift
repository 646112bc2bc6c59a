import Foundation
import PushSender
import PushService
import PushSimulator
import SealedPush
import TestPrograms
import TestSupport
import Testing

@Suite("A simulated phone with several accounts", .serialized, .blocking) struct SimulatedAccountsTests {
    private let device: Device
    private let phone: SimulatedDevice

    init() throws {
        device = try Device(age: 60)
        phone = try device.phone(in: device.folder.appending("State"))
    }

    private var standard: StandardConfiguration {
        StandardConfiguration(
            topic: Device.topic.description, senders: [device.sender.sender.description], safeDefault: "d",
            allowsAnonymous: false)
    }

    /// Adds an account, and returns the key to which its server seals.
    private func add(_ name: AccountName, at host: String, trusting sender: SenderPrivateKey) throws -> DevicePublicKey
    {
        let server = try #require(URL(string: "https://\(host)"))
        let account = PushAccount(name, server: server, trusting: [sender.sender])
        let app = try #require(try phone.add(account, to: standard))
        return try app.enroll(at: .now().advanced(bySeconds: -1)).recipients[0]
    }

    /// Delivers a message by the program, whose extension finds the accounts by itself.
    private func deliver(_ text: String, to key: DevicePublicKey, from sender: SenderPrivateKey) throws
        -> Device.Delivered
    {
        let sealer = Sealer(sender: sender, topic: Device.topic, safeDefault: "wire default")
        return try device.deliver(device.file(sealer.seal(Content(body: text), toUnverified: key)))
    }

    @Test("three accounts on two servers and the phone's own get their messages, and nobody writes for another")
    func three() throws {
        let (one, two) = (SenderPrivateKey(), SenderPrivateKey())
        let nina = try add("nina", at: "one.example", trusting: one)
        let omar = try add("omar", at: "two.example", trusting: two)
        let work = try add("work", at: "one.example", trusting: one)
        for round in 1...2 {
            for (name, key, sender) in [("nina", nina, one), ("omar", omar, two), ("work", work, one)] {
                let shown = try deliver("\(name) \(round)", to: key, from: sender)
                #expect(shown.body == "\(name) \(round)" && shown.object["account"] as? String == name)
                let other = try deliver("b", to: key, from: name == "omar" ? one : two)
                #expect(other.reason == "unknown-sender")
            }
            let own = try deliver("own", to: device.recipient, from: device.sender)
            #expect(own.body == "own" && own.object["account"] == nil)
        }
        #expect(try deliver("b", to: device.recipient, from: one).reason == "unknown-sender")
    }

    @Test("with 32 accounts, the extension uses less than 6 MB") func memory() throws {
        let sender = SenderPrivateKey()
        var keys: [DevicePublicKey] = []
        for number in 1...PushAccount.maximumCount {
            keys.append(try add(try #require(AccountName(parsing: "a\(number)")), at: "one.example", trusting: sender))
        }
        let shown = try deliver("b", to: keys[31], from: sender)
        #expect(shown.body == "b" && shown.object["account"] as? String == "a32")
        let memory = try #require(shown.object["peakMemoryBytes"] as? Int)
        print("with 32 accounts: \(memory) bytes, \(shown.object["elapsedMilliseconds"] ?? "-") ms")
        #expect(memory < 6 << 20)
    }

    @Test("`run` adds accounts, and refuses an argument that isn't one") func arguments() throws {
        let key = SenderPrivateKey().sender.description
        for (argument, isAccount) in [
            ("nina,https://one.example,login,\(key)", true), ("nina,https://one.example,login", false),
            ("nina,ftp://one.example,login,\(key)", false), ("a b,https://one.example,login,\(key)", false),
            ("nina,https://one.example,,\(key)", false), ("nina,https://one.example,login,pushsender1...", false),
        ] {
            // Two phones with accounts are refused after the arguments were read, so nothing runs.
            let result = try Program("device-simulator").run([
                "run", "--device", "phone", "--topic", "com.example.app", "--apns", "APNs", "--state", "State",
                "--count", "2", "--account", argument,
            ])
            #expect(result.status == 64)
            #expect(result.errors.contains("leave out --count") == isAccount, "\(result.errors)")
        }
    }
}
