import SealedPush
import TestSupport
import Testing

@Suite("The life cycle of the keys under one name") struct KeyRotationTests {
    private let start = Timestamp(clamping: 1_800_000_000)
    private let day: Int64 = 86_400

    private func later(_ seconds: Int64) -> Timestamp { start.advanced(bySeconds: seconds) }

    /// A key that is in use, and one that is to replace it.
    private func pair() -> KeyRotation<Int> {
        var rotation = KeyRotation<Int>([])
        #expect(rotation.add(1, at: start)?.confirmed == start)
        #expect(rotation.add(2, at: later(day))?.confirmed == nil)
        return rotation
    }

    @Test("The first key needs no confirmation, the second its first message, and until then no third is added")
    func adding() {
        var rotation = pair()
        #expect(rotation.members.map(\.key) == [2, 1])
        #expect(rotation.unconfirmed?.key == 2 && rotation.confirmed?.key == 1)
        let before = rotation
        #expect(rotation.add(3, at: later(99 * day)) == nil)
        #expect(rotation == before)
        rotation.confirm(2, at: later(2 * day))
        #expect(rotation.retireReplaced() == [1])
        #expect(rotation.life(of: 1)?.retired == later(2 * day))
        #expect(rotation.retireReplaced() == [])
        #expect(rotation.add(3, at: later(3 * day)) != nil)
        for key in [2, 3] { rotation.revoke(key, at: later(4 * day)) }
        // There are no other active keys.
        #expect(rotation.add(4, at: later(4 * day))?.confirmed == later(4 * day))
    }

    @Test("A new key is newer than all others and confirmed no earlier than created, even if the clock was set back")
    func clockSetBack() {
        var rotation = KeyRotation<Int>([])
        _ = rotation.add(1, at: start)
        #expect(rotation.add(2, at: later(-9 * day))?.created == later(1))
        rotation.confirm(2, at: later(-8 * day))
        #expect(rotation.confirmed?.life.confirmed == later(1))
        #expect(rotation.retireReplaced() == [1])
        #expect(rotation.life(of: 1)?.retired == later(1))
    }

    @Test("Each action is due exactly at its second") func due() {
        var rotation = pair()
        #expect(!rotation.isOverdue(at: later(46 * day)))
        #expect(rotation.isOverdue(at: later(46 * day + 1)))
        #expect(!rotation.isRotationDue(olderThan: day, at: later(99 * day)))
        rotation.confirm(2, at: later(2 * day))
        rotation.retireReplaced()
        #expect(!rotation.isOverdue(at: later(99 * day)))
        #expect(!rotation.isRotationDue(olderThan: nil, at: later(99 * day)))
        #expect(!rotation.isRotationDue(olderThan: 30 * day, at: later(31 * day - 1)))
        #expect(rotation.isRotationDue(olderThan: 30 * day, at: later(31 * day)))
        #expect(rotation.erasable(at: later(33 * day - 1)) == [])
        #expect(rotation.erasable(at: later(33 * day)) == [1])
        rotation.revoke(2, at: later(3 * day))
        #expect(rotation.erasable(at: later(3 * day)) == [2])
        rotation.erase(2, at: later(3 * day))
        #expect(rotation.erasable(at: later(3 * day)) == [])
        #expect(!rotation.isRotationDue(olderThan: day, at: later(99 * day)))
    }

    @Test("A record names the newest 16 active keys, counts up, and is renewed 60 days before its 400 are over")
    func record() throws {
        let keys = (0..<20).map { _ in DevicePrivateKey().recipient }
        let rotation = KeyRotation(keys.map { ($0, KeyLife(created: start, confirmed: start)) })
        let key = EnrollmentPrivateKey()
        let record = try DeviceRecord(of: rotation, topic: "com.example.app", after: 7, at: start, signedBy: key)
        #expect(record.recipients == Array(keys.prefix(16)))
        #expect(record.names(rotation))
        #expect(record.counter == UInt64(start.secondsSince1970))
        #expect(record.expires == later(400 * day))
        #expect(!record.isRenewalDue(at: later(340 * day)))
        #expect(record.isRenewalDue(at: later(340 * day + 1)))
        var other = rotation
        other.revoke(keys[0], at: start)
        #expect(!record.names(other))
    }

    @Test("Counters increase even if the clock stands still or was set back") func counters() {
        #expect(RecordCounter.next(after: 7, at: Timestamp(clamping: 7)) == 8)
        #expect(RecordCounter.next(after: nil, at: Timestamp(clamping: 0)) == 1)
        // No record can have these, so nothing is signed.
        for last in [RecordCounter.maximum, .max] {
            #expect(RecordCounter.next(after: last, at: start) == RecordCounter.maximum + 1)
        }
    }

    /// The random actions of a person, an app, and the passing of time.
    private enum Act: CaseIterable {
        case add, confirm, confirmOld, settle, revoke, revokeAll, retire, erase, sign, nothing
    }

    @Test("Whatever is done with any clock, keys never return to earlier states, and interrupted actions complete")
    func anySequence() async throws {
        var random = SeededGenerator()
        for _ in 0..<Thoroughness.count(300, thorough: 20_000) {
            await Task.yield()
            var rotation = KeyRotation<Int>([])
            var now = start
            var counter: UInt64?
            for step in 0..<40 {
                now = now.advanced(bySeconds: Self.jump(&random))
                let before = rotation
                let act = Act.allCases.randomElement(using: &random) ?? .nothing
                let key = rotation.members.randomElement(using: &random)?.key ?? 0
                switch act {
                case .add:
                    let life = rotation.add(step, at: now)
                    #expect((life == nil) == (before.unconfirmed != nil))
                    if let life { #expect((life.confirmed != nil) == before.active.isEmpty) }
                case .confirm: if let waiting = rotation.unconfirmed?.key { rotation.confirm(waiting, at: now) }
                case .confirmOld: rotation.confirm(key, at: now)
                case .settle: rotation.retireReplaced()
                case .revoke: rotation.revoke(key, at: now)
                case .revokeAll: for member in rotation.members { rotation.revoke(member.key, at: now) }
                case .retire: rotation.retire(key, at: now)
                case .erase:
                    for key in rotation.erasable(at: now) {
                        let life = try #require(rotation.life(of: key))
                        let isOld = life.retired.map { now >= $0.advanced(bySeconds: 31 * day) } ?? false
                        #expect(life.state == .revoked || life.state == .retired && isOld)
                        rotation.erase(key, at: now)
                    }
                    #expect(rotation.erasable(at: now).isEmpty)
                case .sign:
                    let next = RecordCounter.next(after: counter, at: now)
                    #expect(next > counter ?? 0 && next >= UInt64(now.secondsSince1970))
                    counter = next
                case .nothing: break
                }
                try expectNoWayBack(from: before, to: rotation)
                try expectSameEnd(from: before, to: rotation, cutAt: Int.random(in: 0...4, using: &random))
            }
        }
    }

    /// Returns seconds, minutes, or weeks, forward or backward.
    private static func jump(_ random: inout SeededGenerator) -> Int64 {
        let span: Int64 = [1, 60, 7_200, 86_400, 40 * 86_400].randomElement(using: &random) ?? 1
        return Int64.random(in: -span / 2...span, using: &random)
    }

    private func expectNoWayBack(from before: KeyRotation<Int>, to after: KeyRotation<Int>) throws {
        let created = after.members.map(\.life.created)
        #expect(zip(created, created.dropFirst()).allSatisfy { $0 > $1 })
        #expect(after.active.filter { $0.life.confirmed == nil }.count <= 1)
        let states = KeyLife.State.allCases
        for member in before.members {
            let life = try #require(after.life(of: member.key))
            let (old, new) = (states.firstIndex(of: member.life.state), states.firstIndex(of: life.state))
            #expect(try #require(old) <= #require(new))
            for moment in [\KeyLife.confirmed, \.retired, \.revoked, \.erased] {
                #expect(member.life[keyPath: moment] == nil || member.life[keyPath: moment] == life[keyPath: moment])
            }
            #expect(life.confirmed.map { $0 >= life.created } ?? true)
        }
    }

    /// If interrupted between two writes, the keys still open what they opened before or after, and settling leads to the
    /// same end.
    private func expectSameEnd(from before: KeyRotation<Int>, to after: KeyRotation<Int>, cutAt count: Int) throws {
        var end = after
        end.retireReplaced()
        let changed = end.members.filter { before.life(of: $0.key) != $0.life }.map(\.key)
        // An action that removes keys is restarted by whoever started it.
        let isTakenAway = changed.contains { end.life(of: $0)?.opens != true }
        guard !isTakenAway, changed.contains(where: { end.life(of: $0)?.retired != nil }) else { return }
        var cut = KeyRotation(
            end.members.map { member in
                let isWritten = changed.prefix(max(1, count)).contains(member.key)
                return (member.key, isWritten ? member.life : before.life(of: member.key) ?? member.life)
            })
        #expect(cut.members.allSatisfy { $0.life.opens || before.life(of: $0.key)?.opens == false })
        let isConfirmation = changed.first.flatMap { end.life(of: $0) }?.state == .active
        cut.retireReplaced()
        if isConfirmation { #expect(cut == end) }
    }
}
