import Testing

@testable import PushOutbox

@Suite("The ages of records") struct RecordLimitsTests {
    @Test(
        "records are kept for 30 days, receipts for 60, their numbers for 8, and ends of logins for a day and two hours"
    )
    func ages() {
        let (day, hour): (Int64, Int64) = (86_400_000, 3_600_000)
        let limits = RecordLimits(at: 20_000 * day + 43_200_000)
        #expect(limits.created == 19_970 * day + 43_200_000)
        #expect(limits.tallyDay == 19_940)
        #expect(limits.lastReceipt == 19_940 * day + 43_200_000)
        #expect(limits.receiptDay == 19_992)
        #expect(limits.loginsEnded == 19_999 * day + 43_200_000 - 2 * hour)
    }
}
