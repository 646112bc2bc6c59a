extension Content {
    /// Pictures, sounds and movies, in the order in which they are shown; at most 16, each under an ID of its own.
    ///
    /// On content that was opened: those that can be read, the first of those with one ID. One that can't be read costs
    /// itself, not the text. Source: Specification 14.
    public var attachments: [Content.Attachment] {
        get {
            guard case .array(let values)? = reserved["attachments"] else { return [] }
            var ids: Set<String> = []
            return values.prefix(Content.Attachment.maximumCount).compactMap(Content.Attachment.init)
                .filter { ids.insert($0.id).inserted }
        }
        set { reserved["attachments"] = newValue.isEmpty ? nil : .array(newValue.map(\.json)) }
    }

    /// Where the whole content is, when this is the first part of it: see ``Overflow``. Nil where it can't be read.
    public var overflow: Overflow? {
        get { reserved["overflow"].flatMap(Overflow.init) }
        set { reserved["overflow"] = newValue?.json }
    }

    /// For sealing: every entry must be readable as it stands.
    func checkAttachments() throws(ContentError) {
        if let value = reserved["attachments"] {
            guard case .array(let values) = value, !values.isEmpty, values.count == attachments.count else {
                throw ContentDiagnosis.attachments(value)
            }
        }
        if let value = reserved["overflow"], overflow == nil { throw ContentDiagnosis.overflow(value) }
    }
}
