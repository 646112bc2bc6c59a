import SealedPush
import Testing

@testable import PushOutbox

@Suite("The ranges of a broadcast") struct EnqueueProgressTests {
    @Test("a range covers the next thousand devices, and the last one ends the broadcast") func ranges() {
        let most = EnqueueBatch.maximumCount
        for (count, isLast) in [(0, true), (1, true), (most - 1, true), (most, false)] {
            let devices = (0..<count).map { Int64(7 + 2 * $0) }
            let next = EnqueueProgress.next(behind: 6, devices)
            #expect(next.position == (isLast ? .max : devices.last))
            #expect(next.range?.start == devices.last.map { _ in 6 })
            #expect(next.range?.last == devices.last)
        }
    }

    @Test("a push expires at its end, after 30 days, or when its device may have erased the key") func expired() {
        let (now, day): (Int64, Int64) = (1_800_000_000_000, 86_400_000)
        let entry = EntryRow(priority: 10, apnsID: "", collapseID: "", body: [])
        for (end, keeps, days) in [
            (nil, nil, 30), (now + 2 * day, nil, 2), (now + 40 * day, nil, 30), (nil, 3, 3), (now + 2 * day, 3, 2),
            (now + 4 * day, 3, 3), (nil, 31, 30),
        ] as [(Int64?, Int64?, Int64)] {
            let sealed = EnqueueBatch.Sealed(device: 1, revision: 1, entry: entry, end: end, keeps: keeps)
            #expect(sealed.sendUntil(at: now) == now + days * day)
        }
    }
}
