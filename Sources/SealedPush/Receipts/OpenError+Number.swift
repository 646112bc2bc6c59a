extension OpenError {
    /// How receipts count it: its place among their counts. A number is never used for another reason. Source:
    /// Specification 16.3.
    package var receiptNumber: UInt8 {
        switch self {
        case .malformed: 1
        case .unknownRecipient: 2
        case .locked: 3
        case .keysUnavailable: 4
        case .unknownSender: 5
        case .anonymousNotAllowed: 6
        case .rejected: 7
        case .malformedContent: 8
        case .topic: 9
        case .keyRetired: 10
        case .clock: 11
        case .tooOld: 12
        case .expired: 13
        case .replayed: 14
        case .ledgerUnavailable: 15
        case .outOfTime: 16
        }
    }

    package init?(receiptNumber: UInt8) {
        guard let found = Self.allCases.first(where: { $0.receiptNumber == receiptNumber }) else { return nil }
        self = found
    }
}
