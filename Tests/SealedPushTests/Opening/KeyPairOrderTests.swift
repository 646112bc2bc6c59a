import Testing

@testable import SealedPush

/// Specification 3.2.3. Two identities share one key ID, and two senders another's: so what is tried, and in which order,
/// shows in what opens.
@Suite("The pairs of keys with one ID") struct KeyPairOrderTests {
    private let real: Exchange
    private let decoy: DevicePrivateKey
    private let decoySender: SenderPublicKey
    private let now = Exchange.now

    init() throws {
        real = Exchange(
            identity: try DevicePrivateKey(secret: Twins.first), senderKey: try SenderPrivateKey(secret: Twins.first))
        decoy = try DevicePrivateKey(secret: Twins.second)
        decoySender = try SenderPrivateKey(secret: Twins.second).sender
    }

    private var sender: SenderPublicKey { real.senderKey.sender }

    private func key(_ identity: DevicePrivateKey, _ seconds: Int64 = 0, _ state: KeyLife.State = .active) -> DeviceKey
    {
        var life = KeyLife(created: now.advanced(bySeconds: seconds))
        if state == .retired { life.retire(at: now) }
        return DeviceKey(identity, life: life)
    }

    private func outcome(_ keys: [DeviceKey], _ senders: [SenderPublicKey], isAnonymous: Bool = false) -> Opener
        .Refusal?
    {
        let opener = real.opener(keys: FixedKeyStore(keys: keys), trusting: senders, allowsAnonymous: true)
        return refusal(opener, isAnonymous ? real.sealAnonymously(real.content()) : real.seal(real.content()))
    }

    @Test("are tried up to the sixteenth, and the seventeenth is not") func sixteen() {
        let decoys = [SenderPublicKey](repeating: decoySender, count: 16)
        #expect(outcome([key(real.identity)], decoys.dropLast() + [sender]) == nil)
        #expect(outcome([key(real.identity)], decoys + [sender]) == .rejected)

        let identities = (1...16).map { key(decoy, Int64($0)) }
        #expect(outcome(identities.dropLast() + [key(real.identity)], [sender]) == nil)
        #expect(outcome(identities + [key(real.identity)], [sender]) == .rejected)
    }

    @Test("count only where both IDs match: strangers in the list take no place") func strangers() {
        let strangers = (0..<40).map { _ in SenderPrivateKey().sender }
        #expect(outcome([key(real.identity)], strangers + [sender]) == nil)
        let keys = (0..<40).map { _ in key(DevicePrivateKey(), 9) }
        #expect(outcome(keys + [key(real.identity)], [sender]) == nil)
    }

    @Test("go by identity first, then by sender in list order") func identityFirst() {
        // Sixteen pairs with the decoy come before the first with the real identity.
        let senders = [sender] + [SenderPublicKey](repeating: decoySender, count: 15)
        #expect(outcome([key(decoy, 1), key(real.identity)], senders) == .rejected)
        #expect(outcome([key(decoy, 1), key(real.identity)], senders.dropLast()) == nil)
        // The sixteenth pair is the real identity's eighth.
        let last = [SenderPublicKey](repeating: decoySender, count: 7) + [sender]
        #expect(outcome([key(decoy, 1), key(real.identity)], last) == nil)
        #expect(outcome([key(decoy, 1), key(real.identity)], [decoySender] + last) == .rejected)
    }

    @Test("go active before retired, and newest first", arguments: [false, true]) func order(isAnonymous: Bool) {
        func decoys(_ seconds: Int64, _ state: KeyLife.State) -> [DeviceKey] {
            [DeviceKey](repeating: key(decoy, seconds, state), count: 16)
        }
        // Sixteen decoys that come before the real key keep it from being tried; those behind it don't.
        let cases: [(Opener.Refusal?, [DeviceKey])] = [
            (.rejected, decoys(1, .active) + [key(real.identity, 0)]),
            (nil, decoys(-1, .active) + [key(real.identity, 0)]),
            (.rejected, decoys(-9, .active) + [key(real.identity, 0, .retired)]),
            (nil, decoys(9, .retired) + [key(real.identity, 0)]),
            (.rejected, decoys(1, .retired) + [key(real.identity, 0, .retired)]),
            (nil, decoys(-1, .retired) + [key(real.identity, 0, .retired)]),
        ]
        for (expected, keys) in cases { #expect(outcome(keys, [sender], isAnonymous: isAnonymous) == expected) }
    }

    @Test("with a sealed box are sixteen identities") func anonymous() {
        let identities = (1...16).map { key(decoy, Int64($0)) }
        #expect(outcome(identities.dropLast() + [key(real.identity)], [], isAnonymous: true) == nil)
        #expect(outcome(identities + [key(real.identity)], [], isAnonymous: true) == .rejected)
    }
}
