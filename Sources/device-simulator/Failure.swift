internal import PushKeyring
internal import PushSimulator

/// What ends the program, with its exit status.
struct Failure: Error {
    let status: Int32
    let message: String

    init(status: Int32, message: String) {
        self.status = status
        self.message = message
    }

    init(_ error: KeyringKeyError) {
        switch error {
        case .unreadable: self.init(status: 74, message: error.description)
        case .exposed: self.init(status: 77, message: error.description)
        case .unusable: self.init(status: 65, message: error.description)
        }
    }

    init(_ error: KeyringError) {
        switch error {
        case .needsSecret(.passphrase):
            self.init(
                status: 77,
                message: """
                    the keyring is sealed with a passphrase, which takes 64 MiB to open, and an extension has 24: keep \
                    simulated devices in a keyring that is sealed with a key (`sealedpush keys passphrase --new-key-file`)
                    """)
        case .file, .outOfMemory: self.init(status: 74, message: error.description)
        case .busy: self.init(status: 75, message: error.description)
        case .wrongSecret, .needsSecret(.key), .notSealed, .sealMissing, .sealChanged:
            self.init(status: 77, message: error.description)
        case .exists, .notFound, .wrongKind, .noSecret, .notUsable, .unconfirmed, .nothingToConfirm, .unverified,
            .enrolled, .record, .challenge, .damaged, .altered, .backup:
            self.init(status: 65, message: error.description)
        }
    }
}
