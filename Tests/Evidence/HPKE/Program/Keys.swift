import PushCore

/// The recipient's and the sender's keys, the info, and the plaintext: the first line of input.
struct Keys {
    let recipientSecret, recipient, senderSecret, sender, info, plaintext: [UInt8]

    init?(_ line: String) {
        let fields = line.split(separator: " ").compactMap { Hex.decode($0) }
        guard fields.count == 6 else { return nil }
        (recipientSecret, recipient, senderSecret) = (fields[0], fields[1], fields[2])
        (sender, info, plaintext) = (fields[3], fields[4], fields[5])
    }
}
