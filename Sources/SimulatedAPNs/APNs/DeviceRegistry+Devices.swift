internal import _PushBase

/// What devices do: come, go, acknowledge.
extension DeviceRegistry {
    /// The devices with these tokens are there now: what waited for them goes out, higher priority first, then older first.
    ///
    /// - Returns: tokens that nobody has, or not any more: those devices have to register again.
    func connect(_ tokens: [String], link: any DeviceLink) -> [String] {
        state.withLock { state in
            var unknown: [String] = []
            var waiting: [(index: Int, notification: APNsNotification)] = []
            for token in tokens {
                guard let index = state.byToken[token], state.devices[index].record.token == token else {
                    unknown.append(token)
                    continue
                }
                state.devices[index].link = link
                waiting += state.devices[index].takeWaiting().map { (index, $0) }
            }
            let now = configuration.now() / 1_000
            let order = waiting.enumerated().sorted { first, second in
                let priorities = (first.element.notification.priority, second.element.notification.priority)
                return priorities.0 == priorities.1 ? first.offset < second.offset : priorities.0 > priorities.1
            }
            for (_, (index, notification)) in order {
                guard (notification.storedUntil(storageTime: configuration.storageTime) ?? 0) > now else {
                    state.expiredCount += 1
                    continue
                }
                _ = Self.send(notification, to: index, count: 1, &state, configuration)
            }
            return unknown
        }
    }

    /// The devices have gone. What they had not acknowledged is kept for them.
    func disconnect(_ tokens: [String], link: any DeviceLink) {
        let keepsAll = configuration.isStrict(.unacknowledged)
        state.withLock { state in
            for index in tokens.compactMap({ state.byToken[$0] }) where state.devices[index].link === link {
                state.devices[index].goAway(keepsAll: keepsAll)
            }
        }
    }

    func acknowledge(_ number: UInt64, token: String, link: any DeviceLink) {
        state.withLock { state in
            guard let index = state.byToken[token], state.devices[index].link === link else { return }
            // Mostly the oldest.
            guard let place = state.devices[index].unacknowledged.firstIndex(where: { $0.number == number }) else {
                return
            }
            state.devices[index].unacknowledged.remove(at: place)
            state.acknowledgedCount += 1
        }
    }

    /// Everything that waits or is unacknowledged, by token: for the next start.
    func waiting() -> [(token: String, notification: APNsNotification)] {
        state.withLock { state in
            state.devices.flatMap { device in
                device.waitingInOrder.map { (device.record.token, $0) }
            }
        }
    }

    func restore(_ waiting: [(token: String, notification: APNsNotification)]) {
        state.withLock { state in
            for (token, notification) in waiting {
                guard let index = state.byToken[token] else { continue }
                state.devices[index].kept.append(notification)
            }
        }
    }

    var counts: DeviceCounts {
        state.withLock { state in
            var counts = DeviceCounts(
                devices: state.devices.count, acknowledged: state.acknowledgedCount, expired: state.expiredCount)
            for device in state.devices {
                if device.link != nil { counts.online += 1 }
                counts.waiting += device.kept.count + (device.stored == nil ? 0 : 1)
                counts.unacknowledged += device.unacknowledged.count
            }
            return counts
        }
    }

    /// The name of the device that has or had a token; nil where none has.
    func name(of token: some StringProtocol) -> String? {
        state.withLock { state in state.byToken[token.lowercased()].map { state.devices[$0].record.name } }
    }

    /// At most `limit` of them, in the order in which they registered.
    func records(limit: Int) -> [DeviceRecord] { state.withLock { $0.devices.prefix(limit).map(\.record) } }
}

/// What a local APNs has to do with devices at the moment, and has done.
package struct DeviceCounts: Codable, Sendable {
    package var devices = 0
    package var online = 0
    /// Stored, or kept since a device went away.
    package var waiting = 0
    package var unacknowledged = 0
    package var acknowledged = 0
    /// Gone because their time was over, or never stored.
    package var expired = 0
}
