import FuzzSupport
import SealedPush

/// A record as its owner creates it, from an input's values.
struct MadeRecord {
    let text: String
    /// The device record; nil for a sender set.
    let device: DeviceRecord?
    let set: SenderSet?

    var bytes: [UInt8] { Array((Base64URLRule.decode(String(text.dropFirst("pushrecord.".count))) ?? []).dropLast(4)) }

    init(_ input: inout Input) {
        let kind = input.byte()
        self.init(&input, isDevice: kind & 1 == 0)
    }

    /// Consumes the bytes for the signer and app, counter, time, lifetime, and keys.
    init(_ input: inout Input, isDevice: Bool) {
        let who = input.byte()
        let signer = Int(who & 1)
        // Usually the first app; sometimes a counter at its end.
        let topic = Parties.topics[who & 0x0e == 0x0e ? 1 : 0]
        let counter = who & 0x10 == 0 ? UInt64(input.byte() & 7) : UInt64.max >> 2 - UInt64(input.byte() & 1)
        let created = Parties.now.advanced(bySeconds: (Int64(input.byte()) - 128) * 3_600)
        let expires = created.advanced(bySeconds: 1 + Int64(input.byte()) * 1_800)
        let keys = input.byte()
        do {
            if isDevice {
                let record = try DeviceRecord(
                    of: Self.some(of: Parties.recipients, keys), topic: topic, counter: counter, created: created,
                    expires: expires, signedBy: Parties.enrollmentKeys[signer])
                (device, set, text) = (record, nil, record.description)
            } else {
                let made = try SenderSet(
                    of: Self.some(of: Parties.senders, keys), topic: topic, counter: counter, created: created,
                    expires: expires, signedBy: Parties.authorityKeys[signer])
                (device, set, text) = (nil, made, made.description)
            }
        } catch { fatalError("a valid record can't be signed: \(error)") }
    }

    /// Returns at least one of the keys, in either order.
    private static func some<Key>(of keys: [Key], _ choice: UInt8) -> [Key] {
        let chosen = keys.indices.filter { choice >> $0 & 1 == 1 }.map { keys[$0] }
        if chosen.isEmpty { return [keys[0]] }
        return choice & 0x80 == 0 ? chosen : chosen.reversed()
    }
}
