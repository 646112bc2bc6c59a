public import PushSender
public import SealedPush

/// The reason why an outbox operation failed. Contains public IDs only. Its ``kind`` tells a caller's mistake from a storage
/// that fails, and both from damage.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum OutboxError: Error, Equatable, Sendable {
    /// The file is not a database, parts of it are destroyed, or it or PostgreSQL's tables contain values of the wrong type.
    /// The contents can be recovered only from a backup.
    case damaged
    /// The file, or PostgreSQL's schema `sealed_push`, is another program's. It was not changed.
    case foreign
    /// The outbox was created by another version of this library. It was not changed.
    case otherSchema
    /// The file can't be opened or created at that path. The text is the system's.
    case cannotOpen(String)
    /// Other users can, or could, change the file, SQLite's companion files, or its folder. Nothing was opened. The text
    /// says what to do.
    case exposed(String)
    /// The file or its folder can't be written to. The text is the system's.
    case readOnly(String)
    /// The file, its log, or its log's index was replaced, moved, or deleted since it was opened, or a folder above it
    /// was, perhaps to restore a backup. A push stored there now would be lost, so nothing is. The text is the path.
    case replaced(String)
    /// This process, or the system, has too many open files. The transaction was not committed.
    case tooManyOpenFiles
    /// The disk is full, or the user's quota is used up. The transaction was not committed. Nothing stored before it is lost, including earlier
    /// transactions of the same call.
    case diskFull
    /// Another process held the database for longer than the busy limit.
    case busy
    /// Another transaction held the rows of the device, or of one of the user's devices, for longer than the limit. Other
    /// devices aren't affected.
    case deviceBusy
    /// Any other error from SQLite: its extended result code and message.
    case database(code: Int32, String)
    /// The database server can't be used, and waiting won't help: the address is malformed, or the server refuses the
    /// connection. The text is the client's.
    case connection(String)
    /// The database server can't be reached, or has been down for longer than the limit. The text is the client's.
    case unreachable(String)
    /// The database role doesn't have the required privilege. The text is the server's.
    case notPermitted(String)
    /// Any other error from PostgreSQL: its SQLSTATE and message.
    case server(code: String, String)

    /// No such device is registered.
    case unknownDevice
    /// The user has no registered devices.
    case unknownUser
    /// The device is registered for another user, and the call didn't name that user as the previous one.
    case otherUser(DeviceName)
    /// Another enrollment key is pinned for the device. If the new key is right, such as after the app's keychain was
    /// erased, remove the device and register it again. Its waiting pushes were sealed to keys that are gone.
    case otherEnrollment(DeviceName)
    /// Another user's device has this enrollment key and has answered a challenge. Either it is the same device, or another
    /// party submitted its public record. If the device has changed hands, remove the other registration first.
    case enrolledElsewhere(DeviceName)
    /// The user already has the maximum number of devices that the server allows.
    case tooManyDevices(limit: Int)
    /// The device was registered with an unverified recipient, so it has no records.
    case notEnrolled
    /// The device record was rejected.
    case record(SealedPush.RecordError)
    /// The answer to the challenge was wrong.
    case challenge(ChallengeError)
    /// The content could not be sealed; nothing was enqueued.
    case seal(SealError)
    /// The idempotency key was already used for other recipients or other content.
    case keyUsedForOthers
    /// The text is not an ``OutboxKey``.
    case keyText
    /// The outbox has a key, but none was given.
    case keyNeeded
    /// The outbox has rows but isn't marked with this key. It's another outbox's key, or the database was tampered with.
    case otherKey
    /// The device's row was changed without the outbox's key. Remove the device, and let it enroll again.
    case forged(DeviceName)
    /// The device's row was changed, and isn't a valid registration anymore. Remove the device, and let it enroll again.
    case damagedDevice(DeviceName)
}

extension OutboxError: CustomStringConvertible {
    /// A one-sentence description for people.
    public var description: String {
        switch self {
        case .damaged:
            "the outbox is damaged: it is not this program's database, or some of its data is missing or invalid"
        case .foreign: "this is another program's database; it was not changed"
        case .otherSchema: "this outbox was created by another version of Sealed Push; it was not changed"
        case .cannotOpen(let reason): "the outbox file can't be opened: \(reason)"
        case .exposed(let reason): "the outbox is not protected from other users and was not opened: \(reason)"
        case .readOnly(let reason): "the outbox file or its folder can't be written to: \(reason)"
        case .replaced(let path):
            "\(path) was replaced, moved, or deleted while it was in use; nothing is stored until this program is restarted"
        case .tooManyOpenFiles:
            "the outbox can't be used because too many files are open; raise the limit (`ulimit -n`, or LimitNOFILE= of the service)"
        case .diskFull: "the disk is full, or its quota is used up; the outbox's contents are intact"
        case .busy: "another process held the outbox for too long; try again"
        case .deviceBusy: "another transaction holds the device's row in the database; try again in a few seconds"
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
            "\(name)'s enrollment key already belongs to another user's verified device"
        case .tooManyDevices(let limit): "this user already has \(limit) devices, the maximum"
        case .notEnrolled: "this device was registered without records"
        case .record(let error): error.description
        case .challenge(let error): error.description
        case .seal(let error): error.description
        case .keyUsedForOthers: "this idempotency key was already used for other devices or other content"
        case .keyText: "not an outbox key"
        case .keyNeeded: "the outbox has a key, and none was given"
        case .otherKey:
            "the outbox is not marked with this key: it is another outbox's key, or the database was tampered with"
        case .forged(let name): "the registration of \(name) was changed without the outbox's key"
        case .damagedDevice(let name): "the registration of \(name) was changed in the database, and is invalid"
        }
    }
}
