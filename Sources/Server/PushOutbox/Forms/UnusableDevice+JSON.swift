package import SealedPush

extension UnusableDevice {
    /// The row, its names with escapes, the reason, and what to do.
    package var json: JSONValue {
        [
            "row": .integer(row), "device": .string(name), "user": .string(user), "reason": .string(reason.rawValue),
            "warning": .string(warning),
        ]
    }

    package var warning: String {
        let cause =
            switch reason {
            case .damaged: "isn't a valid registration"
            case .forged: "was written without the outbox's key"
            }
        return """
            row \(row) of the devices, "\(name)" of the user "\(user)", \(cause); find out who wrote it, then run \
            `sealedpush device remove --row \(row)`, and let the device enroll again
            """
    }
}
