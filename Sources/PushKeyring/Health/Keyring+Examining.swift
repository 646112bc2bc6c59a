public import SealedPush

extension Keyring {
    /// Looks the whole keyring over: its files, keys, trust list and audit log. Changes nothing, also where a change is
    /// unfinished, and works on a folder that can only be read.
    ///
    /// A file that can't be read costs itself only. Where the keyring is sealed and its secret is not at hand, a finding
    /// says what was not checked. Costs a few hundred microseconds a file, and 0.2 s for a passphrase.
    ///
    /// - Returns: problems first, then warnings and notes, each about one thing; none where all is well.
    /// - Throws: `file` where there is no such folder, `busy` where another process changes it for a minute.
    public func examine(at now: Timestamp = .now()) throws(KeyringError) -> [Finding] {
        guard FileFacts(of: folder, following: true)?.kind == .folder else {
            throw .file(folder, message: "there is no such folder")
        }
        while true {
            let unlocking = ExaminedSeal(of: vault)
            let findings = try files.reading { () throws(KeyringError) -> [Finding]? in
                // Between the two, another process may have sealed the keyring anew.
                if let key = unlocking.key, (try? vault.isCurrent(key)) == false { return nil }
                var examination = Examination(of: self, unlocking, at: now)
                examination.run()
                return examination.findings
            }
            if let findings {
                return findings.enumerated().sorted {
                    ($0.element.severity, $0.offset) < ($1.element.severity, $1.offset)
                }
                .map(\.element)
            }
        }
    }
}

/// How far a keyring could be unlocked for being looked over.
enum ExaminedSeal {
    case notSealed
    case unlocked(MasterKey)
    /// Sealed, and this is why it was not unlocked.
    case locked(KeyringError)

    init(of vault: Vault) {
        do throws(KeyringError) {
            self = try vault.key().map { .unlocked($0) } ?? .notSealed
        } catch {
            self = .locked(error)
        }
    }

    var key: MasterKey? {
        guard case .unlocked(let key) = self else { return nil }
        return key
    }
}
