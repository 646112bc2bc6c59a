import SealedPush

extension Content {
    /// The content with its body cut so that its JSON is `excess` bytes shorter or more; nil where that can't be done.
    func truncated(by excess: Int) -> Content? {
        guard let body = alert.body else { return nil }
        let ellipsis = "…"
        let budget = Self.escapedByteCount(of: body) - excess - ellipsis.utf8.count
        var end = body.startIndex
        var byteCount = 0
        while end < body.endIndex {
            byteCount += Self.escapedByteCount(of: body[end])
            guard byteCount <= budget else { break }
            body.formIndex(after: &end)
        }
        let kept = body[..<end]
        guard VisibleText.isVisible(String(kept)) else { return nil }
        var shorter = self
        shorter.alert.body = kept + ellipsis
        return shorter
    }

    private static func escapedByteCount(of text: some StringProtocol) -> Int {
        text.utf8.reduce(0) { $0 + JSONWriter.escapedByteCount(of: $1) }
    }

    private static func escapedByteCount(of character: Character) -> Int {
        character.utf8.reduce(0) { $0 + JSONWriter.escapedByteCount(of: $1) }
    }
}
