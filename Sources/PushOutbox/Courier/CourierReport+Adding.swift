import PushSender

extension CourierReport {
    mutating func add(_ settlement: Settlement, name: String) {
        switch settlement {
        case .accepted: acceptedCount += 1
        case .later, .returned: retries[name, default: 0] += 1
        case .tokenGone: dropped[name, default: 0] += 1
        case .dead, .tokenRefused: dead[name, default: 0] += 1
        }
    }
}

extension Result<PushAnswer, PushTransportError> {
    /// For reports.
    var name: String {
        switch self {
        case .success(.accepted): "accepted"
        case .success(.refused(let refusal)): refusal.name
        case .failure(let error): error.name
        }
    }

    /// Whether the next push will likely fail in the same way.
    var isServersFault: Bool {
        switch self {
        case .success(.accepted): false
        case .success(.refused(let refusal)): refusal.status >= 500
        case .failure(let error):
            switch error {
            case .unreachable, .connectionLost, .timedOut: true
            case .overloaded, .shuttingDown, .wrongClock, .cancelled: false
            }
        }
    }
}
