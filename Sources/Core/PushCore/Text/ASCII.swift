/// Classes of ASCII characters. No byte of 128 and above is in one.
extension UInt8 {
    package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    package var isCapital: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
    package var isSmallLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
    package var isLetter: Bool { isCapital || isSmallLetter }

    /// Small letters, digits and hyphens: a part of a host's name in small letters.
    package var isOfLabel: Bool { isSmallLetter || isDigit || self == UInt8(ascii: "-") }
    /// Letters, digits, hyphens and dots: a host's name, a bundle ID.
    package var isOfHostName: Bool { isLetter || isOfLabel || self == UInt8(ascii: ".") }
    /// Those and the underscore: a name that is safe as one part of a path.
    package var isOfFileName: Bool { isOfHostName || self == UInt8(ascii: "_") }
}
