struct KeyringContents: Sendable {
    var names: [KeyName: NamedKeys] = [:]
    var trust = TrustList()
    var log = AuditLog.End.start

    var sorted: [NamedKeys] { names.values.sorted { $0.name.description < $1.name.description } }

    /// Returns the keys under a name, checking their kind and the presence of secrets if requested.
    func keys(
        of name: KeyName, _ kind: AnyPublicKey.Kind? = nil, isOwn: Bool = false
    ) throws(KeyringError) -> NamedKeys {
        guard let keys = names[name] else { throw .notFound(name) }
        if let kind, keys.kind != kind { throw .wrongKind(name, expected: kind) }
        guard !isOwn || keys.isOwn else { throw .noSecret(name) }
        return keys
    }
}
