extension Content {
    /// What the sender asks for once this was shown; a sealer puts it in. Nil where there is nothing, or nothing that
    /// reads: that costs the receipt, and never the text. Source: Specification 16.1.
    public var receipt: ReceiptRequest? {
        get { reserved["receipt"].flatMap(ReceiptRequest.init) }
        set { reserved["receipt"] = newValue?.json }
    }
}
