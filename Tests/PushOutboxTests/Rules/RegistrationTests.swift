import PushSender
import SealedPush
import Testing

@testable import PushOutbox

@Suite("The registration of a device") struct RegistrationTests {
    private static let now = Timestamp(clamping: 1_800_000_000)
    private static let milliseconds: Int64 = 1_800_000_000_000
    private static let (identity, other) = (DevicePrivateKey(), DevicePrivateKey())
    private static let (pinned, proven) = (enrolled(isProven: false), enrolled(isProven: true))
    private static let login = RegisteredKeys.unverified(identity.recipient)
    private static let enrollment = EnrollmentPrivateKey()

    private static func enrolled(by key: EnrollmentPrivateKey? = nil, isProven: Bool) -> RegisteredKeys {
        let key = key ?? enrollment
        let record = try! DeviceRecord(
            of: [identity.recipient], topic: Fixture.topic, counter: 1, created: now,
            expires: now.advanced(bySeconds: 86_400), signedBy: key)
        let proven = isProven ? [identity.recipient] : []
        return .enrolled(try! EnrolledDevice(loading: key.enrollment, record: record, proven: Set(proven)))
    }

    private static func device(
        _ keys: RegisteredKeys = login, of user: UserName = "anna", topic: Topic = Fixture.topic,
        at address: AddressState = active("a")
    ) -> RegisteredDevice {
        RegisteredDevice(name: "phone", user: user, topic: topic, keys: keys, address: address)
    }

    private static func active(_ name: String, _ environment: PushEnvironment = .production) -> AddressState {
        .active(Fixture.address(name, environment), registered: now)
    }

    private func plan(
        _ new: RegisteredDevice, replacing known: RegisteredDevice? = nil, from previous: UserName? = nil,
        limit: Int = .max, count: Int = 0, enrolled: [KnownOwners.Enrolled] = [], holder: KnownOwners.Holder? = nil
    ) throws(OutboxError) -> RegistrationPlan {
        try Registration(
            row: known.map { _ in 3 }, known: known,
            new: StoredDevice(device: new, codes: DeviceCodes(), isSealedToItsKey: true), previous: previous,
            deviceLimit: limit
        ).plan(knowing: KnownOwners(deviceCount: count, enrolled: enrolled, holder: holder))
    }

    @Test(
        "a known device's keys, user, and app decide what happens to the pushes that wait for it",
        arguments: [
            (device(), device(), [.write(keepsProof: true)]),
            (device(pinned), device(pinned), [.write(keepsProof: true)]),
            // Its login-only key is in the record now.
            (device(), device(pinned), [.write(keepsProof: true)]),
            (
                device(), device(.unverified(other.recipient)),
                [.write(keepsProof: true), .discardAll(of: 3)]
            ),
            (device(), device(of: "berta"), [.write(keepsProof: true), .discardAll(of: 3)]),
            (device(), device(topic: "com.example.other"), [.write(keepsProof: false), .discardAll(of: 3)]),
        ] as [(RegisteredDevice, RegisteredDevice, [RegistrationStep])])
    func keys(known: RegisteredDevice, new: RegisteredDevice, steps: [RegistrationStep]) throws {
        #expect(try plan(new, replacing: known, from: "anna").steps == steps)
    }

    @Test(
        "a new address is unproven and makes deferred pushes due; another carrier gets the queue",
        arguments: [
            (active("a"), active("a"), [.write(keepsProof: true)]),
            // Registered again, later.
            (
                active("a"), .active(Fixture.address("a"), registered: .init(clamping: 1 << 33)),
                [.write(keepsProof: true)]
            ),
            (active("a"), active("b"), [.write(keepsProof: false), .redirect(3, to: .apns(), dueBy: milliseconds)]),
            (
                .none(.apns(), reason: "moved"), active("a"),
                [.write(keepsProof: false), .redirect(3, to: .apns(), dueBy: milliseconds)]
            ),
            (
                active("a"), active("a", .sandbox),
                [.write(keepsProof: false), .redirect(3, to: .apns(.sandbox), dueBy: milliseconds)]
            ),
            // Not used anyway.
            (active("a"), .none(.apns(), reason: nil), [.write(keepsProof: false)]),
            (
                active("a"), .disabled(Fixture.address("b"), registered: now, reason: "BadDeviceToken"),
                [.write(keepsProof: false)]
            ),
            (
                active("a"), .none(.apns(.sandbox), reason: nil),
                [.write(keepsProof: false), .redirect(3, to: .apns(.sandbox), dueBy: nil)]
            ),
            // Usable again: its pushes are dead letters.
            (.disabled(Fixture.address("a"), registered: now, reason: "x"), active("a"), [.write(keepsProof: true)]),
        ] as [(AddressState, AddressState, [RegistrationStep])])
    func addresses(known: AddressState, new: AddressState, steps: [RegistrationStep]) throws {
        #expect(try plan(Self.device(at: new), replacing: Self.device(at: known)).steps == steps)
    }

    @Test(
        "a known device isn't replaced by another user, or without its pinned key",
        arguments: [
            (device(), device(of: "berta"), nil, .otherUser("phone")),
            (device(), device(of: "berta"), "cleo", .otherUser("phone")),
            (device(), device(of: "berta"), "anna", nil),
            (device(pinned), device(), nil, .otherEnrollment("phone")),
            (
                device(pinned), device(enrolled(by: EnrollmentPrivateKey(), isProven: true)), nil,
                .otherEnrollment("phone")
            ),
            (device(pinned), device(proven), nil, nil),
            (device(), device(pinned), nil, nil),
            // The new user's device brings its own key.
            (device(pinned), device(enrolled(by: EnrollmentPrivateKey(), isProven: true), of: "berta"), "anna", nil),
        ] as [(RegisteredDevice, RegisteredDevice, UserName?, OutboxError?)])
    func owners(known: RegisteredDevice, new: RegisteredDevice, previous: UserName?, error: OutboxError?) {
        let result = Result { () throws(OutboxError) in try plan(new, replacing: known, from: previous) }
        if let error {
            #expect(throws: error) { try result.get() }
        } else {
            #expect(throws: Never.self) { try result.get() }
        }
    }

    @Test("a user's devices are counted only for a new device, if there is a limit", arguments: [nil, device()])
    func limit(known: RegisteredDevice?) throws {
        for (limit, count) in [(2, 1), (2, 2), (.max, 1_000)] {
            let result = Result { () throws(OutboxError) in
                try plan(Self.device(), replacing: known, limit: limit, count: count)
            }
            if known == nil, count >= limit {
                #expect(throws: OutboxError.tooManyDevices(limit: limit)) { try result.get() }
            } else {
                #expect(try result.get().isNew == (known == nil))
            }
            let registration = Registration(
                row: known.map { _ in 3 }, known: known,
                new: StoredDevice(device: Self.device(), codes: DeviceCodes(), isSealedToItsKey: true),
                deviceLimit: limit)
            #expect(registration.countedUser == (known == nil && limit < .max ? "anna" : nil))
        }
    }

    @Test(
        "an enrollment key belongs to the user whose device has proven it",
        arguments: [
            (pinned, [], []), (proven, [], []), (login, [(8, true)], []),
            // Nobody has proven it yet.
            (pinned, [(8, false), (9, false)], []), (proven, [(8, false), (9, false)], [8, 9]),
            (pinned, [(8, false), (9, true)], nil), (proven, [(8, true), (9, false)], nil),
        ] as [(RegisteredKeys, [(Int64, Bool)], [Int64]?)])
    func claims(keys: RegisteredKeys, others: [(Int64, Bool)], removed: [Int64]?) throws {
        let others = others.map { KnownOwners.Enrolled(row: $0.0, isProven: $0.1) }
        let result = Result { () throws(OutboxError) in try plan(Self.device(keys), enrolled: others) }
        if let removed {
            #expect(try result.get().steps == removed.map { .remove($0) } + [.write(keepsProof: false)])
        } else {
            #expect(throws: OutboxError.enrolledElsewhere("phone")) { try result.get() }
        }
    }

    @Test("an address is taken from its holder, with the pushes that wait there, unless that one is removed")
    func takes() throws {
        let taken = try plan(Self.device(), holder: .init(row: 8, name: "tablet"))
        #expect(
            taken.steps == [.dropAddress(of: 8, reason: "moved"), .discardAll(of: 8), .write(keepsProof: false)])
        #expect(taken.addressTakenFrom == "tablet")
        // The holder's name isn't valid.
        let unnamed = try plan(Self.device(), holder: .init(row: 8, name: nil))
        #expect(unnamed.steps == taken.steps)
        #expect(unnamed.addressTakenFrom == nil)
        let removed = try plan(
            Self.device(Self.proven), enrolled: [.init(row: 8, isProven: false)], holder: .init(row: 8, name: "tablet"))
        #expect(removed.steps == [.remove(8), .write(keepsProof: false)])
        #expect(removed.addressTakenFrom == nil)
        #expect(
            removed.change(discarding: 5)
                == RegistrationChange(isNew: true, discardedCount: 5, addressTakenFrom: nil))
    }

    @Test("only an address that is used is looked up, and only an enrolled device's key") func lookedUp() {
        for (address, isUsed) in [
            (Self.active("a"), true), (.none(.apns(), reason: nil), false),
            (.disabled(Fixture.address("a"), registered: Self.now, reason: "x"), false),
        ] as [(AddressState, Bool)] {
            for (keys, enrollment) in [(Self.login, nil), (Self.pinned, Self.enrollment.enrollment)] {
                let registration = Registration(
                    row: nil, known: nil,
                    new: StoredDevice(
                        device: Self.device(keys, at: address), codes: DeviceCodes(), isSealedToItsKey: true))
                #expect(registration.address == (isUsed ? Fixture.address("a") : nil))
                #expect(registration.enrollment == enrollment)
            }
        }
    }
}
