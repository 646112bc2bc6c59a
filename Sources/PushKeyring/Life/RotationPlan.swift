public import SealedPush

/// What a keyring's keys are due for, by the times of Specification 13.
public struct RotationPlan: Hashable, Sendable {
    public let steps: [Step]
    /// Files that can't be read, or were edited: nothing is done for them.
    public let errors: [KeyringError]

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
        try files.reading { () throws(KeyringError) in
            try plan(of: name, rotatingOlderThan: age, under: try keyAtHand(), at: now)
        }
    }

    /// Does what is due, all in one change; does nothing where nothing is.
    public func performDueSteps(
        of name: KeyName? = nil, rotatingOlderThan age: Int64?, at now: Timestamp = .now()
    ) throws(KeyringError) -> RotationPlan {
        try change(at: now) { (change) throws(KeyringError) in
            let plan = try plan(of: name, rotatingOlderThan: age, under: change.key, at: now)
            var files: [KeyName: KeyFile] = [:]
            for step in plan.steps {
                var file: KeyFile
                if let known = files[step.name] { file = known } else { file = try change.ownFile(step.name) }
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
                files[step.name] = file
            }
            for (name, file) in files { change.save(file, as: name) }
            return plan
        }
    }

    /// A file that can't be read does not affect the others.
    private func plan(
        of name: KeyName?, rotatingOlderThan age: Int64?, under key: MasterKey?, at now: Timestamp
    ) throws(KeyringError) -> RotationPlan {
        if let name { return RotationPlan(steps: try load(name, under: key).dueSteps(name, age, at: now), errors: []) }
        var steps: [RotationPlan.Step] = []
        var errors: [KeyringError] = []
        for name in try names() {
            do throws(KeyringError) {
                steps += try load(name, under: key).dueSteps(name, age, at: now)
            } catch { errors.append(error) }
        }
        return RotationPlan(steps: steps, errors: errors)
    }
}

extension KeyFile {
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
