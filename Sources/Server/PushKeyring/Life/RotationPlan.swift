public import SealedPush

/// What a keyring's keys are due for, by the times of Specification 13.
public struct RotationPlan: Hashable, Sendable {
    public let steps: [Step]

    /// One thing to do.
    public struct Step: Hashable, Sendable {
        public let name: KeyName
        public let key: AnyPublicKey
        public let act: Act
    }

    public enum Act: String, Sendable {
        /// The key is old: a new one is made beside it.
        case rotate
        /// The key was retired 31 days ago: its secret is destroyed.
        case erase
        /// The device's record runs out within 60 days: a new one is signed.
        case renew
    }
}

extension Keyring {
    /// What is due; changes nothing and needs no secret.
    ///
    /// - Parameters:
    ///   - name: one name; nil for all.
    ///   - age: keys that are older are rotated, in seconds; nil for none.
    public func dueSteps(
        of name: KeyName? = nil, rotatingOlderThan age: Int64?, at now: Timestamp = .now()
    ) throws(KeyringError) -> RotationPlan {
        try vault.read(.atHand).contents.plan(of: name, rotatingOlderThan: age, at: now)
    }

    /// Does what is due, all in one change; does nothing where nothing is.
    public func performDueSteps(
        of name: KeyName? = nil, rotatingOlderThan age: Int64?, at now: Timestamp = .now()
    ) throws(KeyringError) -> RotationPlan {
        try change(at: now) { (change) throws(KeyringError) in
            let plan = try change.contents.plan(of: name, rotatingOlderThan: age, at: now)
            for step in plan.steps {
                var file = try change.ownKeys(step.name)
                switch step.act {
                case .rotate:
                    let key = try file.rotate(named: step.name, at: now)
                    change.note(.rotated, step.name, key)
                case .erase:
                    guard let index = file.keys.firstIndex(where: { $0.key == step.key }) else { continue }
                    file.keys[index].life.erase(at: now)
                    file.keys[index].secret = nil
                    change.note(.erased, step.name, step.key)
                case .renew:
                    try file.signRecord(at: now)
                    change.note(.signed, step.name, step.key)
                }
                change.save(file, as: step.name)
            }
            return plan
        }
    }
}

extension KeyringContents {
    fileprivate func plan(
        of name: KeyName?, rotatingOlderThan age: Int64?, at now: Timestamp
    ) throws(KeyringError) -> RotationPlan {
        if let name, names[name] == nil { throw .notFound(name) }
        return RotationPlan(
            steps: (name.map { [$0] } ?? sortedNames).flatMap { name in names[name]?.dueSteps(name, age, at: now) ?? []
            })
    }
}

extension NamedKeys {
    fileprivate func dueSteps(_ name: KeyName, _ age: Int64?, at now: Timestamp) -> [RotationPlan.Step] {
        guard isOwn, kind != .authority else { return [] }
        func step(_ act: RotationPlan.Act, _ key: AnyPublicKey) -> RotationPlan.Step {
            RotationPlan.Step(name: name, key: key, act: act)
        }
        var steps: [RotationPlan.Step] = []
        if rotation.isRotationDue(olderThan: age, at: now), let newest {
            steps.append(step(.rotate, newest.key))
        } else if let record, let newest, record.isRenewalDue(at: now) {
            steps.append(step(.renew, newest.key))
        }
        // A revoked key's secret goes when a person says so.
        let retired = rotation.erasable(at: now).filter { rotation.life(of: $0)?.state == .retired }
        return steps + retired.map { step(.erase, $0) }
    }
}
