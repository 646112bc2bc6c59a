package import PushCore

/// Keys as text: Bech32 (BIP 173, constant 1), with a fixed number of bytes for each type of key.
///
/// BIP 173 allows at most 90 characters, for which its checksum detects any four errors. Longer keys have another form.
///
/// Works on bytes in scratch memory throughout, so that the same code can handle secret keys. It never creates a `String`,
/// which couldn't be wiped. Operations and memory accesses don't depend on the key: neither branches nor indexes do, as far
/// as the compiler preserves this. Source: BIP 173; Specification 8.
package enum Bech32 {
    /// BIP 173's limit.
    static let maximumCharacterCount = 90
    private static let checksumCount = 6

    package struct Form: Sendable {
        /// The human-readable part, in lowercase.
        let prefix: [UInt8]
        package let byteCount: Int
        /// Whether the text must be uppercase, as for secrets; otherwise, case doesn't matter.
        let inCapitals: Bool

        package init(_ prefix: String, byteCount: Int, inCapitals: Bool = false) {
            self.prefix = Array(prefix.utf8)
            self.byteCount = byteCount
            self.inCapitals = inCapitals
        }

        var characterCount: Int { prefix.count + 1 + groupCount(of: byteCount) + checksumCount }
    }

    /// Eight bits per byte in groups of five: 32 bytes take 51 groups and one more bit.
    private static func groupCount(of byteCount: Int) -> Int { (8 * byteCount + 4) / 5 }

    /// Returns the text of a key under a lowercase human-readable part.
    package static func encode(_ key: UnsafeRawBufferPointer, prefix: String, inCapitals: Bool) -> WipedBytes {
        let prefix = Array(prefix.utf8)
        let groupCount = groupCount(of: key.count)
        let groups = WipedBytes(count: groupCount + checksumCount) { groups in
            for index in 0..<groupCount { groups[index] = group(index, of: key) }
            var checksum = Checksum(prefix: prefix)
            for index in 0..<groupCount { checksum.add(groups[index]) }
            for _ in 0..<checksumCount { checksum.add(0) }
            let value = checksum.value ^ 1
            for index in 0..<checksumCount {
                groups[groupCount + index] = UInt8((value >> (5 * UInt32(5 - index))) & 31)
            }
        }
        return WipedBytes(count: prefix.count + 1 + groupCount + checksumCount) { text in
            for (index, byte) in prefix.enumerated() { text[index] = byte }
            text[prefix.count] = UInt8(ascii: "1")
            groups.withBytes { groups in
                for (index, group) in groups.enumerated() { text[prefix.count + 1 + index] = letter(of: group) }
            }
            guard inCapitals else { return }
            for index in text.indices { text[index] ^= lowercaseMask(text[index]) & 0x20 }
        }
    }

    /// Returns the index of the form whose prefix the text has, or 0: ``decode(_:as:)`` then reports the error.
    static func index(of text: UnsafeRawBufferPointer, in forms: [Form]) -> Int {
        guard forms.count > 1 else { return 0 }
        return forms.firstIndex { form in
            text.count > form.prefix.count && text[form.prefix.count] == UInt8(ascii: "1")
                && text[..<form.prefix.count].lazy.map(lowercased).elementsEqual(form.prefix)
        } ?? 0
    }

    /// Returns the bytes that `text` encodes, if it has this form.
    package static func decode(_ text: UnsafeRawBufferPointer, as form: Form) throws(KeyTextError) -> WipedBytes {
        let (prefix, groupCount) = (form.prefix, groupCount(of: form.byteCount))
        guard text.count <= maximumCharacterCount else { throw .tooLong }
        let hasLowercase = text.reduce(0) { $0 | lowercaseMask($1) } != 0
        guard !(hasLowercase && text.reduce(0) { $0 | uppercaseMask($1) } != 0) else { throw .mixedCase }
        guard let separator = text.lastIndex(of: UInt8(ascii: "1")) else { throw .notAKey }
        // Lazily, since this may be part of a mistyped secret, which must not be copied.
        guard text[..<separator].lazy.map(lowercased).elementsEqual(prefix) else {
            throw surrounded(text) ?? .wrongKind
        }
        if form.inCapitals, hasLowercase { throw .notInCapitals }
        let data = UnsafeRawBufferPointer(rebasing: text[(separator + 1)...])
        guard data.count == groupCount + checksumCount else { throw surrounded(text) ?? .wrongLength }

        var knownMask: UInt8 = 0xff
        let groups = WipedBytes(count: data.count) { groups in
            for (index, byte) in data.enumerated() {
                let (group, mask) = group(of: lowercased(byte))
                groups[index] = group
                knownMask &= mask
            }
        }
        guard knownMask == 0xff else { throw .wrongCharacter }
        let isIntact = groups.withBytes { groups in
            var checksum = Checksum(prefix: prefix)
            for group in groups { checksum.add(group) }
            return checksum.value == 1
        }
        guard isIntact else { throw .wrongChecksum }
        let paddingMask = UInt8(1 << (5 * groupCount - 8 * form.byteCount)) - 1
        guard groups.withBytes({ $0[groupCount - 1] & paddingMask }) == 0 else { throw .wrongLength }
        return WipedBytes(count: form.byteCount) { key in
            groups.withBytes { groups in for index in 0..<groupCount { place(groups[index], at: index, into: key) } }
        }
    }

    /// Returns the error for surrounding white space. Called only for text that isn't a key, since a key's ends are secret.
    private static func surrounded(_ text: UnsafeRawBufferPointer) -> KeyTextError? {
        text.trimmingSpace.count < text.count ? .whiteSpace : nil
    }

    /// Returns the five bits at `index`. The last group is padded with zeros.
    private static func group(_ index: Int, of key: UnsafeRawBufferPointer) -> UInt8 {
        let bit = 5 * index
        let first = UInt16(key[bit / 8]) << 8
        let second = bit / 8 + 1 < key.count ? UInt16(key[bit / 8 + 1]) : 0
        return UInt8(((first | second) >> (11 - UInt16(bit % 8))) & 31)
    }

    private static func place(_ group: UInt8, at index: Int, into key: UnsafeMutableRawBufferPointer) {
        let bit = 5 * index
        let bits = UInt16(group) << (11 - UInt16(bit % 8))
        key[bit / 8] |= UInt8(bits >> 8)
        if bit / 8 + 1 < key.count { key[bit / 8 + 1] |= UInt8(truncatingIfNeeded: bits) }
    }

    /// Returns the letter for five bits. Reads all letters, regardless of the value.
    private static func letter(of group: UInt8) -> UInt8 {
        var letter: UInt8 = 0
        for index in 0..<alphabet.count { letter |= alphabet[index] & equalMask(UInt8(index), group) }
        return letter
    }

    /// Returns the five bits of a lowercase letter, and 0xff; zeros for any other byte.
    private static func group(of letter: UInt8) -> (group: UInt8, mask: UInt8) {
        var (group, known): (UInt8, UInt8) = (0, 0)
        for index in 0..<alphabet.count {
            let mask = equalMask(alphabet[index], letter)
            group |= UInt8(index) & mask
            known |= mask
        }
        return (group, known)
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { byte | uppercaseMask(byte) & 0x20 }
    private static func lowercaseMask(_ byte: UInt8) -> UInt8 { mask(byte, from: UInt8(ascii: "a")) }
    private static func uppercaseMask(_ byte: UInt8) -> UInt8 { mask(byte, from: UInt8(ascii: "A")) }

    /// Returns 0xff for the 26 bytes starting at `first`, 0 for all others: only for those are both differences negative.
    private static func mask(_ byte: UInt8, from first: UInt8) -> UInt8 {
        let (byte, first) = (Int16(byte), Int16(first))
        return UInt8(truncatingIfNeeded: ((first - 1 - byte) & (byte - first - 26)) >> 8)
    }

    /// Returns 0xff if they are equal, 0 if not.
    private static func equalMask(_ one: UInt8, _ other: UInt8) -> UInt8 {
        UInt8(truncatingIfNeeded: (UInt16(one ^ other) &- 1) >> 8)
    }

    private static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)

    /// BIP 173's BCH code.
    private struct Checksum {
        var value: UInt32 = 1

        init(prefix: [UInt8]) {
            for byte in prefix { add(byte >> 5) }
            add(0)
            for byte in prefix { add(byte & 31) }
        }

        mutating func add(_ group: UInt8) {
            let top = value >> 25
            value = (value & 0x1ff_ffff) << 5 ^ UInt32(group)
            for index in 0..<Self.generators.count {
                // All ones, or all zeros.
                value ^= Self.generators[index] & (0 &- (top >> UInt32(index) & 1))
            }
        }

        private static let generators: [UInt32] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3]
    }
}
