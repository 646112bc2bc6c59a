extension Content {
    /// Whether `{{name}}` in title, subtitle and body stands for a value that only the device knows. Source: Specification 17.
    ///
    /// False unless the sender says so: in any other message the text is shown as it is, braces and all.
    public var isTemplate: Bool {
        get { reserved["template"] == .bool(true) }
        set { reserved["template"] = newValue ? .bool(true) : nil }
    }
}
