internal import PushSender
internal import SealedPush

/// What is said of a reason code, beside its number, its step and whose fault it is: ``OpenError/facts``.
struct ReasonWords {
    /// What has happened to one push, for the person who opens it.
    let sentence: String
    /// What an operator does about many.
    let hint: String
}

extension OpenError {
    var words: ReasonWords {
        switch self {
        case .malformed:
            ReasonWords(
                sentence: "this is no envelope",
                hint: "pushes without an envelope reach the app: another server of yours, or a carrier, sends them")
        case .unknownRecipient:
            ReasonWords(
                sentence: "it was sealed for another device's key",
                hint:
                    "it is sealed to keys that devices no longer have: `sealedpush doctor`, and let the app hand in its record"
            )
        case .locked:
            ReasonWords(
                sentence: "unlock the device first", hint: "devices were restarted and not unlocked yet; nothing to do")
        case .keysUnavailable:
            ReasonWords(
                sentence: "the key store could not be read",
                hint: "the app's key store fails: look at the keychain access group of its last version")
        case .unknownSender:
            ReasonWords(
                sentence: "its sender is not trusted here; --trust names one, if you know whose it is",
                hint: "the app does not know the sender: publish a sender set, or wait for the app's update")
        case .anonymousNotAllowed:
            ReasonWords(
                sentence: "it has no sender: --allow-anonymous opens it all the same",
                hint: "somebody seals without a sender; nobody of yours should")
        case .rejected:
            ReasonWords(
                sentence: "it was altered, or sealed by a stranger, for another key, or for another topic",
                hint:
                    "another sender, topic or key than the device expects, or alteration on the way: `sealedpush doctor`"
            )
        case .malformedContent:
            ReasonWords(
                sentence: "it opened, and holds no well-formed content",
                hint: "a sender seals what is no content: look at its version")
        case .topic:
            ReasonWords(
                sentence: "it opened, and is meant for another app",
                hint: "content for another app is sealed to this one's keys: look at --topic")
        case .keyRetired:
            ReasonWords(
                sentence: "it opened under a retired key, and was sent too long after that key was retired",
                hint: "a sender still seals to keys that were replaced: tell all servers the newest records")
        case .clock:
            ReasonWords(sentence: "it was sent in the future: check both clocks", hint: "a server's clock is ahead")
        case .tooOld:
            ReasonWords(
                sentence: "it was sent more than 30 days ago",
                hint: "content is more than 30 days old when it arrives: look at the server's clock and `outbox status`"
            )
        case .expired:
            ReasonWords(
                sentence: "it has expired", hint: "pushes come after their content's expiry: give content more time")
        case .replayed:
            ReasonWords(
                sentence: "it was seen before",
                hint:
                    "pushes come twice under other IDs: a server sends them without apns-id and apns-collapse-id, or somebody replays"
            )
        case .ledgerUnavailable:
            ReasonWords(
                sentence: "the ledger could not be written",
                hint:
                    "devices can't write to the shared container: disks are full, the app group is wrong, or a ledger is spoiled"
            )
        case .outOfTime:
            ReasonWords(
                sentence: "time ran out", hint: "devices did not come to open in time: look at the stages before")
        }
    }
}

extension ReasonWords {
    /// For a code in a receipt, which may be a later version's.
    static func hint(_ code: String) -> String {
        OpenError(rawValue: code)?.words.hint ?? "a reason of a later version of the app's module"
    }

    /// Why receipts themselves are refused.
    static func refusalHint(_ code: String) -> String {
        switch ReceiptError(rawValue: code) {
        case .rejected: "they are forged, or another sender than `serve`'s asks for them"
        case .tooOld, .clock: "clocks of devices are wrong, or this machine's is"
        case .unknownVersion: "a later version of the app's module makes them: update the server"
        case .wrongSize, .malformed: "something else than the app's module posts to this address"
        case nil:
            "a single device sends more than 1,000 in a day: its key is misused, or the app counts one push many times"
        }
    }
}
