import TestSupport
import Testing

@testable import SealedPush

/// Specification 3.2.3. In a vector, two keys have the same hint, so opening shows what is tried and in which order.
@Suite("The pairs of keys with one hint") struct KeyPairOrderTests {
    private let shared: SharedHint
    private let box: SharedHint
    private let now = Exchange.now

    init() throws {
        shared = try SharedHint("senders")
        box = try SharedHint.anonymous()
    }

    private var decoy: SenderPublicKey { shared.senders[0] }
    private var sender: SenderPublicKey { shared.senders[1] }

    private func key(_ identity: DevicePrivateKey, _ seconds: Int64 = 0, _ state: KeyLife.State = .active) -> DeviceKey
    {
        var life = KeyLife(created: now.advanced(bySeconds: seconds))
        if state == .retired { life.retire(at: now) }
        return DeviceKey(identity, life: life)
    }

    private func outcome(
        _ shared: SharedHint, _ keys: [DeviceKey], _ senders: [SenderPublicKey]
    ) -> OpenError? {
        let opener = Exchange().opener(keys: FixedKeyStore(keys: keys), trusting: senders, allowsAnonymous: true)
        return refusal(opener, shared.envelope)
    }

    @Test("Up to sixteen pairs are tried, and the seventeenth is not") func sixteen() {
        let decoys = [SenderPublicKey](repeating: decoy, count: 16)
        let keys = [key(shared.identities[0])]
        #expect(outcome(shared, keys, decoys.dropLast() + [sender]) == nil)
        #expect(outcome(shared, keys, decoys + [sender]) == .rejected)
        // Sixteen pairs with the first key come before those with the second.
        let twice = [key(shared.identities[0], 1), key(shared.identities[0])]
        #expect(outcome(shared, twice, decoys[..<15] + [sender]) == nil)
        #expect(outcome(shared, twice, decoys + [sender]) == .rejected)
    }

    @Test("A pair counts only if both hints match: other senders in the list don't count") func strangers() {
        let strangers = (0..<40).map { _ in SenderPrivateKey().sender }
        #expect(outcome(shared, [key(shared.identities[0])], strangers + [sender]) == nil)
        let keys = (0..<40).map { _ in key(DevicePrivateKey(), 9) }
        #expect(outcome(shared, keys + [key(shared.identities[0])], [sender]) == nil)
    }

    @Test("A pair counts only if the sender hint is valid for this very identity") func sharedIdentities() throws {
        let identities = try SharedHint("identities")
        let decoys = [DeviceKey](repeating: key(identities.identities[0], 1), count: 40)
        #expect(outcome(identities, decoys, identities.senders) == .unknownSender)
        #expect(outcome(identities, decoys + [key(identities.identities[1])], identities.senders) == nil)
    }

    @Test("Active keys are tried before retired ones, and newer ones first") func order() {
        func decoys(_ seconds: Int64, _ state: KeyLife.State) -> [DeviceKey] {
            [DeviceKey](repeating: key(box.identities[0], seconds, state), count: 16)
        }
        // Sixteen decoys before the real key prevent it from being tried; decoys after it don't.
        let real = box.identities[1]
        let cases: [(OpenError?, [DeviceKey])] = [
            (.rejected, decoys(1, .active) + [key(real, 0)]),
            (nil, decoys(-1, .active) + [key(real, 0)]),
            (.rejected, decoys(-9, .active) + [key(real, 0, .retired)]),
            (nil, decoys(9, .retired) + [key(real, 0)]),
            (.rejected, decoys(1, .retired) + [key(real, 0, .retired)]),
            (nil, decoys(-1, .retired) + [key(real, 0, .retired)]),
        ]
        for (expected, keys) in cases { #expect(outcome(box, keys, []) == expected) }
    }

    @Test("For a sealed box, sixteen identities are tried") func anonymous() {
        let identities = (1...16).map { key(box.identities[0], Int64($0)) }
        #expect(outcome(box, identities.dropLast() + [key(box.identities[1])], []) == nil)
        #expect(outcome(box, identities + [key(box.identities[1])], []) == .rejected)
    }
}
