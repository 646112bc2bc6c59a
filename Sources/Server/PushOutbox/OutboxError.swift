public import PushSender
public import SealedPush

/// Why the outbox did not do what it was asked. Holds public IDs only.
public enum OutboxError: Error, Equatable, Sendable {
    /// The file is no database, parts of it are destroyed, or it holds values of other types than it must. What it held can
    /// be had back from a copy only.
    case damaged
    /// The file is a database of some other program. It was not changed.
    case foreign
    /// Another version of this library has made the outbox. It was not changed.
    case otherSchema
    /// No file can be opened or made there. The text is the system's.
    case cannotOpen(String)
    /// Other users have, or could have, a hand in the file, in what SQLite opens beside it, or in its folder: nothing was
    /// opened. The text says what is to be done.
    case exposed(String)
    /// The file or its folder can't be written to.
    case readOnly
    /// The disk is full. The transaction was not made; nothing that was there is lost, nor what earlier ones of the same call
    /// have done.
    case diskFull
    /// Another process held the database for longer than the busy limit.
    case busy
    /// Anything else that SQLite reports: its extended result code and its own words.
    case database(code: Int32, String)
    /// There will be no connection to the database server however long one waits: the address is malformed, or the server refuses. The text is
    /// its client's.
    case connection(String)
    /// The database server can't be reached, or has been away for longer than the limit. The text is its client's.
    case unreachable(String)
    /// The database's role may not do that. The text is the server's.
    case notPermitted(String)
    /// Anything else that PostgreSQL reports: its SQLSTATE and its own words.
    case server(code: String, String)

    /// No such device is registered.
    case unknownDevice
    /// No device of such a user is registered.
    case unknownUser
    /// The device is registered for another user, and it was not said that it moves from there.
    case otherUser(DeviceName)
    /// Another enrollment key is pinned for the device. Where that is right, such as after the app's keychain was erased,
    /// remove the device and register it anew: what waits for it was sealed to keys that are gone.
    case otherEnrollment(DeviceName)
    /// Another user's device has this enrollment key, and has answered a challenge: it is that one, or its public record
    /// was handed in by somebody else. Where the device has changed hands, remove the other first.
    case enrolledElsewhere(DeviceName)
    /// The user has as many devices as the server lets a user have.
    case tooManyDevices(limit: Int)
    /// The device was registered with an unverified recipient, so it has no records.
    case notEnrolled
    /// A record was not believed.
    case record(SealedPush.RecordError)
    /// An answer to a challenge was not right.
    case challenge(ChallengeError)
    /// The content was not sealed; nothing was enqueued.
    case seal(SealError)
    /// The idempotency key was used before, for others than these.
    case keyUsedForOthers
    /// The text is not an ``OutboxKey``.
    case keyText
    /// The outbox has a key, and none was given.
    case keyNeeded
    /// The outbox has rows, and is not marked with this key: the key is another outbox's, or somebody has changed the database.
    case otherKey
    /// What is registered of the device was not written by anyone who has the outbox's key. Remove it, and let it enroll again.
    case forged(DeviceName)
}

extension OutboxError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        switch self {
        case .damaged: "the outbox file is damaged: it is no database, or parts of it are destroyed"
        case .foreign: "this file is the database of another program; it was left as it is"
        case .otherSchema: "another version of Sealed Push has made this outbox; it was left as it is"
        case .cannotOpen(let reason): "the outbox file can't be opened: \(reason)"
        case .exposed(let reason): "the outbox is not safe from other users, and was not opened: \(reason)"
        case .readOnly: "the outbox file or its folder can't be written to"
        case .diskFull: "the disk is full: nothing that the outbox holds is lost"
        case .busy: "another process holds the outbox for too long"
        case .database(let code, let words): "the database failed (\(code): \(words))"
        case .connection(let words): "no connection to the outbox's database: \(words)"
        case .unreachable(let words): "the database can't be reached: \(words)"
        case .notPermitted(let words): "the database's role may not do this: \(words)"
        case .server(let code, let words): "the database failed (\(code): \(words))"
        case .unknownDevice: "no such device is registered"
        case .unknownUser: "no device of this user is registered"
        case .otherUser(let name): "\(name) is registered for another user"
        case .otherEnrollment(let name): "another enrollment key is pinned for \(name)"
        case .enrolledElsewhere(let name):
            "the enrollment key of \(name) is another user's device's, which has answered a challenge"
        case .tooManyDevices(let limit): "this user has \(limit) devices, and may have no more"
        case .notEnrolled: "this device was registered without records"
        case .record(let error): error.description
        case .challenge(let error): error.description
        case .seal(let error): error.description
        case .keyUsedForOthers: "this idempotency key was used before, for other devices or other content"
        case .keyText: "not an outbox key"
        case .keyNeeded: "the outbox has a key, which this needs"
        case .otherKey:
            "the outbox is not marked with this key: the key is another outbox's, or somebody has changed the database"
        case .forged(let name): "what is registered of \(name) was changed by somebody without the outbox's key"
        }
    }
}
