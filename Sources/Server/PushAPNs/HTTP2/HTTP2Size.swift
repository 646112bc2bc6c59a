/// Sizes that RFC 9113 fixes, or that apply because we don't announce others.
enum HTTP2Size {
    static let frameHeader = 9
    static let maximumPayload = 16_384
    static let initialWindow = 65_535
    static let maximumWindow = 0x7fff_ffff
    static let headerTable = 4_096
}
