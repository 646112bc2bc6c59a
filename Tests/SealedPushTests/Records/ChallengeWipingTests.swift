#if os(Linux)
    import TestSupport
    import Testing

    @testable import PushCore
    @testable import PushSender
    @testable import SealedPush

    @Suite("After a challenge was made and answered, the process's memory", .serialized)
    struct ChallengeWipingTests {
        private let enrolling = Enrolling()

        /// Every C function is called once before: the first call goes through the dynamic linker, which saves the
        /// registers on the stack, with whatever part of a secret is in them.
        init() throws { _ = try enrolling.answer(enrolling.challenge().text) }

        @Test("holds none of the random bytes that it asks for")
        func random() throws {
            let scan = MemoryScan()
            let challenge = challenge(from: scan)
            let afterMaking = scan.copyCount()
            #expect(afterMaking == 0)
            let answer = try enrolling.answer(challenge.text)
            let afterAnswer = scan.copyCount()
            #expect(afterAnswer == 0)
            try challenge.check(answer, at: Enrolling.now)
        }

        private func challenge(from scan: MemoryScan) -> PendingChallenge {
            let context = HPKEContext(
                sendingTo: enrolling.recipients[0].x25519, from: enrolling.senderKey.x25519,
                info: Challenge.info(topic: Enrolling.topic))
            let random = WipedBytes(count: 32) { $0.copyMemory(from: UnsafeRawBufferPointer(scan.secret)) }
            return PendingChallenge(
                to: enrolling.recipients[0], of: enrolling.enrollment, from: enrolling.senderKey.sender, in: context,
                random: random, at: Enrolling.now)
        }
    }
#endif
