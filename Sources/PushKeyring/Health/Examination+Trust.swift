internal import SealedPush

extension Examination {
    /// The trust list, and what it says about sender sets.
    mutating func examineTrust() {
        let list: TrustList
        do throws(KeyringError) {
            let bytes = try files.read(TrustList.path)
            if bytes == nil, FileFacts(of: files.file(TrustList.path))?.kind == .link {
                return note(.file(files.file(TrustList.path), message: "the link leads nowhere"), TrustList.path)
            }
            if let bytes, !isSealed, TextFile.isOfSealedKeyring(bytes) { sealedFiles.append(TrustList.path) }
            list = try keyring.trustList(under: seal.key)
        } catch {
            if FileFacts(of: files.file(TrustList.path))?.kind == .file { note(error, TrustList.path) }
            return
        }
        for entry in list.entries {
            guard case .senderSet(let set) = entry.trusted else { continue }
            examine(set, for: entry.topic, in: list)
        }
    }

    private mutating func examine(_ set: SenderSet, for topic: Topic, in list: TrustList) {
        guard list.trustedSenders(for: topic).authorities.contains(set.authority), set.topic == topic else {
            return add(.senderSetUnused(topic))
        }
        if now > set.expires {
            add(.senderSetExpired(topic, set.expires))
        } else if set.expires.seconds(since: now) < RotationRules.renewal {
            add(.senderSetExpires(topic, set.expires))
        }
    }
}
