import Foundation
import FuzzSupport
import SealedPush

/// Content JSON: it is accepted exactly if RFC 8259 and the limits of Specification 4.4 allow it. Accepted content follows
/// the rules of 4.6 and 4.7, and is the same after writing and reading. Reading takes far less than a second.
func fuzzContent(_ input: inout Input) {
    let bytes = input.bytes
    let began = clock()
    let result = Result { () throws(ContentError) in try Content(parsing: bytes) }
    let seconds = Double(clock() - began) / Double(CLOCKS_PER_SEC)
    demand(seconds < 1, "reading \(bytes.count) bytes took \(seconds) s")
    switch result {
    case .success(let content):
        checkForm(of: bytes, isRead: true)
        checkRules(of: content)
        checkWriting(of: content)
    case .failure(.tooLong): demand(bytes.count > 4_096, "\(bytes.count) bytes are called too long")
    case .failure(.notJSON): checkForm(of: bytes, isRead: false)
    case .failure(.missing(let path)):
        demand(path == "alert" || path.contains("."), "\(path) is called missing, but is optional")
    case .failure(.invalid(let path)), .failure(.null(let path)), .failure(.besideWithdrawal(let path)):
        demand(
            checkedKeys.contains(String(path.prefix { $0 != "." && $0 != "[" })), "the error repeats a key of the input"
        )
    case .failure(.noVisibleText): break
    @unknown default: demand(false, "an error that this program doesn't know")
    }
}

private func checkForm(of bytes: [UInt8], isRead: Bool) {
    demand(!isRead || bytes.count <= 4_096, "content of \(bytes.count) bytes is read")
    let json = JSONRule(bytes)
    let mayBeRead =
        json.isObject && !json.hasRepeatedName && !json.hasTooLargeNumber && !json.hasLoneSurrogate
        && !json.hasTooLargeInteger
    demand(isRead == mayBeRead, "the JSON is \(isRead ? "read" : "refused"), against RFC 8259 and Specification 4.4")
}

private func checkRules(of content: Content) {
    demand(content.alert.isVisible != (content.withdrawal != nil), "nothing is visible, or a withdrawal has a text")
    demand(content.badge.map { (0...2_147_483_647).contains($0) } ?? true, "badge")
    demand(content.relevanceScore.map { (0...1).contains($0) } ?? true, "relevance-score")
    demand(content.collapseID.map { (1...64).contains($0.utf8.count) } ?? true, "collapse-id")
    for moment in [content.sent, content.expires].compactMap(\.self) {
        demand((0...253_402_300_799).contains(moment.secondsSince1970), "sent or expires is out of range")
    }
    switch content.sound {
    case .named(let name)?: demand(!name.isEmpty, "a sound has no name")
    case .critical(let name, let volume)?: demand(!name.isEmpty && (0...1).contains(volume), "critical sound")
    case nil: break
    }
    demand(content.data != .null, "data is null")
    demand(checkedKeys.isDisjoint(with: content.other.keys), "a known key is among the others")
}

private func checkWriting(of content: Content) {
    let json = content.json
    demand(JSONRule(json).isObject, "the written content is not JSON")
    // When written, a number or a sound can take more bytes than before.
    guard json.count <= 4_096 else { return }
    do {
        let again = try Content(parsing: json)
        demand(again == content, "the content changes when written and read again")
        // Equal strings may still differ in their bytes.
        demand(again.json == json, "the text changes when written again")
    } catch { fatalError("the written content can't be read: \(error)") }
}

private let checkedKeys: Set<String> = [
    "id", "topic", "sent", "expires", "collapse-id", "alert", "badge", "sound", "thread-id", "category",
    "interruption-level", "relevance-score", "filter-criteria", "target-content-id", "data", "attachments", "overflow",
    "interruption-level", "relevance-score", "filter-criteria", "target-content-id", "data", "attachments", "overflow",
    "chart", "receipt", "template", "person", "badge-add", "withdraw", "disclosure",
]
