internal import CommandSupport
internal import Foundation

/// A user of this machine who owns some of the services' files.
struct ServiceUser: Equatable {
    let name: String
    let id: uid_t
    let group: gid_t

    /// The user who runs this program.
    static var current: ServiceUser { ServiceUser(name: "", id: geteuid(), group: getegid()) }

    private init(name: String, id: uid_t, group: gid_t) { (self.name, self.id, self.group) = (name, id, group) }

    init(named name: String) throws(CommandFailure) {
        guard let user = getpwnam(name) else {
            throw .file(
                "there is no user \(name); install the package, which creates it, or use --in FOLDER for a folder of your own"
            )
        }
        self.init(name: name, id: user.pointee.pw_uid, group: user.pointee.pw_gid)
    }

    /// Runs `body` with this user's rights, so that its files belong to the user, and nothing is read that the user can't read.
    ///
    /// Only root can act as another user. Call it only before the program starts other threads' work: the rights are the whole
    /// process's.
    func acting<Answer>(_ body: () throws -> Answer) throws -> Answer {
        let before = Self.current
        guard id != before.id else { return try body() }
        guard setegid(group) == 0, seteuid(id) == 0 else {
            let reason = String(cString: strerror(errno))
            _ = setegid(before.group)
            throw CommandFailure(status: 77, message: "can't act as the user \(name): \(reason)")
        }
        defer {
            guard seteuid(before.id) == 0, setegid(before.group) == 0 else {
                preconditionFailure("the program can't become root again")
            }
        }
        return try body()
    }
}
