import ArgumentParser
import CommandSupport
import Foundation
import PushCore
import SealedPush
import TestSupport
import Testing

@testable import PushKeyring
@testable import SealedPushCommand

@Suite("The commands' sentences") struct DoctorWordsTests {
    private static let day = Timestamp(secondsSince1970: 1_760_000_000)!
    private static let envelope: Envelope = {
        let (recipient, sender) = (DevicePrivateKey().recipient, SenderPrivateKey())
        return SealingContext(to: recipient, from: sender, info: EnvelopeInfo(topic: "com.example.app")).seal([1, 0x80])
    }()
    private static let sender = SenderPrivateKey().sender
    private static let id = sender.keyID
    private static let name: KeyName = "bob-phone"
    private static let topic: Topic = "com.example.app"

    private static func life(
        retired: Timestamp? = nil, revoked: Timestamp? = nil, erased: Timestamp? = nil
    ) -> KeyLife {
        let moments = ["created": day, "confirmed": day, "retired": retired, "revoked": revoked, "erased": erased]
        return KeyLife(moments: moments.compactMapValues { $0 })!
    }

    private static let file = URL(filePath: "Keys/keyring.txt")
    private static let findings: [Finding] = [
        .refused(.altered(file)), .refused(.damaged(file)), .refused(.notSealed(file)), .refused(.wrongSecret(.key)),
        .refused(.sealChanged(file, isSealed: true, note: file)),
        .refused(.sealChanged(file, isSealed: false, note: file)), .refused(.file(file, message: "no")),
        .notChecked(.needsSecret(.key)), .inTheClear(nameCount: 3), .readableByOthers(path: "a", mode: 0o644),
        .writableByOthers(path: "a", mode: 0o666), .inconsistent(name), .old(name, id, age: 100 * 86_400 + 3_600),
        .unconfirmed(name, id, created: day, isOwn: true),
        .unconfirmed(name, id, created: day, isOwn: false), .erasureDue(name, id, since: day),
        .unproven(name, hasRecord: true),
        .unproven(name, hasRecord: false), .recordExpires(name, day, isOver: true, isOwn: true),
        .recordExpires(name, day, isOver: true, isOwn: false), .recordExpires(name, day, isOver: false, isOwn: true),
        .recordExpires(name, day, isOver: false, isOwn: false), .senderSetExpires(topic, day, isOver: true),
        .senderSetExpires(topic, day, isOver: false), .authorityOnline(name), .logAltered,
        .logUnreadable(message: "no"),
    ]

    @Test("describe each finding and what to do about it, and no two are the same")
    func ofFindings() throws {
        #expect(Set(Self.findings.map { "\($0.sentence) \($0.advice)" }).count == Self.findings.count)
        for finding in Self.findings { #expect(finding.sentence.count > 10 && finding.advice.count > 5) }
        let old = Finding.old("newsroom", Self.id, age: 100 * 86_400 + 3_600)
        #expect(old.sentence == "its key \(Self.id) is 100 days 1 hour old")
        #expect(old.advice == "run `sealedpush keys rotate newsroom`")
    }

    @Test("A list of keys warns of an unconfirmed key from the same second as the doctor") func overdue() throws {
        let folder = try TemporaryFolder()
        let keyring = Keyring(folder: folder.appending("Keys"))
        try keyring.generateSender(named: "newsroom", at: Self.day)
        try keyring.rotate("newsroom", at: Self.day)
        let entry = try keyring.entry(named: "newsroom")
        let key = try #require(entry.keys.first)
        for (age, isOverdue) in [(45 * 86_400, false), (45 * 86_400 + 1, true)] as [(Int64, Bool)] {
            let now = key.life.created.advanced(bySeconds: age)
            #expect(try keyring.examine(at: now).contains { $0.code == "unconfirmed" } == isOverdue)
            #expect(entry.note(on: key, at: now)?.contains("for 45 days!") == isOverdue)
        }
    }

    private func diagnosis(
        _ cause: PayloadDiagnosis.Cause?, _ refusal: OpenError?, opensUntil life: KeyLife? = nil,
        start: StartFault? = nil
    ) -> PayloadDiagnosis {
        PayloadDiagnosis(
            device: Self.name, topic: Self.topic, now: Self.day, hasPayload: true, isBackground: false,
            startFault: start, refusal: refusal,
            cause: cause,
            envelope: Self.envelope,
            matched: MatchedKeys(
                recipient: DevicePrivateKey().recipient, device: Self.name, sender: Self.sender, senderName: "newsroom"),
            message: .init(
                id: nil, topic: Self.topic, sent: Self.day.advanced(bySeconds: -3_600),
                expires: Self.day.advanced(bySeconds: 7_200), recipient: DevicePrivateKey().recipient, sender: nil,
                life: life ?? KeyLife(created: Self.day)))
    }

    private func words(_ diagnosis: PayloadDiagnosis) -> DiagnosisWords {
        DiagnosisWords(diagnosis: diagnosis, folder: "Keys")
    }

    /// Returns the description of the step that fails, and the advice.
    private func failing(_ cause: PayloadDiagnosis.Cause?, _ refusal: OpenError) -> (words: String, advice: String) {
        let words = words(diagnosis(cause, refusal))
        return (words.failure, words.advice)
    }

    private static let causes: [(PayloadDiagnosis.Cause?, OpenError)] = {
        let sender = SenderPrivateKey().sender
        return [
            (.field(.tooLong(maximumByteCount: 9)), .malformed), (.field(.notJSON(fault)), .malformed),
            (.field(.noField("x")), .malformed), (.envelope(.tooLong), .malformed),
            (.ownKeyGone(life(erased: day)), .unknownRecipient),
            (.ownKeyGone(life(revoked: day)), .unknownRecipient),
            (.otherDevice("old-phone", hasSecret: true), .unknownRecipient),
            (.otherDevice("old-phone", hasSecret: false), .unknownRecipient), (.unknownKey, .unknownRecipient),
            (.stranger, .unknownSender),
            (.untrusted(sender, "shop", hasAuthority: false, verdict: nil), .unknownSender),
            (.untrusted(sender, nil, hasAuthority: true, verdict: .rejected), .unknownSender),
            (.untrusted(sender, nil, hasAuthority: true, verdict: .tooOld), .unknownSender),
            (.senderSetOutOfTime(set), .unknownSender), (.otherApp("com.example.other"), .rejected),
            (.altered, .rejected), (.content(.notJSON(fault)), .malformedContent), (.content(nil), .malformedContent),
        ] + [.anonymousNotAllowed, .topic, .keyRetired, .clock, .tooOld, .expired, .locked].map { (nil, $0) }
    }()

    private static let fault: JSONFault = {
        do throws(JSONFault) { _ = try JSONReader.members([0x7b]) } catch { return error }
        preconditionFailure("it is cut off")
    }()

    private static let set: SenderSet = {
        let senders = [SenderPrivateKey().sender]
        return try! SenderSet(
            of: senders, topic: topic, counter: 1, created: day, expires: day.advanced(bySeconds: 9_000),
            signedBy: AuthorityPrivateKey())
    }()

    @Test("explain for each cause why a payload doesn't open, and what to do") func ofCauses() {
        var seen: Set<String> = []
        for (cause, refusal) in Self.causes {
            let (words, advice) = failing(cause, refusal)
            #expect(words.count > 10 && advice.count > 5 && seen.insert(words + advice).inserted, "\(words)")
        }
        let sender = SenderPrivateKey().sender
        let untrusted = failing(
            .untrusted(sender, "shop", hasAuthority: false, verdict: nil), .unknownSender)
        #expect(
            untrusted.words
                == "it claims to be from \(sender.keyID) (shop), who is not trusted for com.example.app; if that sender were trusted, it would open"
        )
        #expect(
            untrusted.advice
                == "for the app's own server, run `sealedpush trust add shop --topic com.example.app --keyring Keys`")
        #expect(
            failing(nil, .expired).words
                == "it expired on 2025-10-09 10:53:20 UTC, 2 hours ahead, and the time here is 2025-10-09 08:53:20 UTC")
    }

    @Test("describe each step that passes, and first whether the extension is started at all")
    func ofSteps() {
        let opened = words(diagnosis(nil, nil))
        #expect(opened.start?.outcome == .passed && opened.advice.contains("replayed"))
        for fault in StartFault.allCases {
            let words = words(diagnosis(nil, nil, start: fault))
            #expect(words.start?.words == fault.description && words.start?.outcome == .failed)
            #expect(fault.description.contains("the extension never starts") && words.advice.contains("`aps`"))
        }
        let sentences = OpenError.Step.allCases.map { step in
            opened.words(.init(name: step, outcome: step == .ledger ? .notReached : .passed))
        }
        #expect(Set(sentences).count == OpenError.Step.allCases.count && !sentences.contains("passed"))
        #expect(sentences.contains("its sender, \(Self.id) (newsroom), is trusted"))
        #expect(sentences.contains("it is 1 hour old; up to 30 days is allowed"))
        #expect(sentences.contains("it expires on 2025-10-09 10:53:20 UTC, 2 hours ahead"))
        let retired = diagnosis(nil, nil, opensUntil: Self.life(retired: Self.day))
        #expect(
            words(retired).words(.init(name: .key, outcome: .passed))
                == "the key is retired, but opens messages sent up to 2025-10-09 10:53:20 UTC")
    }

    @Test("give advice for each reason code; each step and each fault has a code") func ofReasons() {
        let reasons = OpenError.allCases
        #expect(Set(reasons.map(\.words.hint)).count == reasons.count)
        #expect(Set(reasons.compactMap(\.facts.step)) == Set(OpenError.Step.allCases))
        #expect(Set(reasons.map(\.facts.fault)) == Set(OpenError.Fault.allCases))
    }

    @Test("name only commands that exist") func commands() throws {
        func exists(_ words: ArraySlice<Substring>, in commands: [any ParsableCommand.Type]) -> Bool {
            guard let first = words.first,
                let command = commands.first(where: { ($0.configuration.commandName ?? "\($0)".lowercased()) == first })
            else { return false }
            let more = command.configuration.subcommands
            return more.isEmpty || words.count == 1 || exists(words.dropFirst(), in: more)
        }
        let url = URL(filePath: "Keys/keyring.txt")
        let errors: [KeyringError] =
            [
                .notFound(Self.name), .unconfirmed(Self.name), .unverified(Self.name), .enrolled(Self.name),
                .challenge(.unknownSender), .damaged(url), .altered(url), .needsSecret(.key), .needsSecret(.passphrase),
                .notSealed(url),
            ] + [KeyLife.State.active, .retired, .revoked, .erased].map { .notUsable(Self.name, $0) }
        let texts =
            Self.findings.map(\.advice) + Self.causes.map { failing($0.0, $0.1).advice }
            + OpenError.allCases.map(\.words.hint) + errors.map(\.shown)
        var count = 0
        for text in texts {
            for match in text.matches(of: /`(?:sealedpush )?((?:keys|trust|device|outbox|doctor|work)[^`]*)`/) {
                let words = match.1.split(separator: " ").prefix { $0.allSatisfy { $0.isLowercase || $0 == "-" } }
                #expect(exists(words.prefix(2), in: SealedPushCommand.configuration.subcommands), "\(match.0)")
                count += 1
            }
        }
        #expect(count > 20)
        for error in errors { #expect(error.shown != error.description && error.shown.hasPrefix(error.description)) }
    }
}
