import Foundation
import FuzzSupport
import SealedPush

/// Content JSON: it is read exactly where RFC 8259 and the limits of Specification 4.4 allow; what is read keeps the
/// rules of 4.6 and 4.7, and written again it reads as the same; one reading takes far less than a second.
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
    case .failure(.tooLong): demand(bytes.count > 4_096, "\(bytes.count) bytes are too long")
    case .failure(.notJSON): checkForm(of: bytes, isRead: false)
    case .failure(.missing(let path)):
        demand(path == "alert" || path.contains("."), "\(path), which may be absent, is missed")
    case .failure(.invalid(let path)), .failure(.null(let path)), .failure(.besideWithdrawal(let path)):
        demand(
            checkedKeys.contains(String(path.prefix { $0 != "." && $0 != "[" })), "the error repeats a key of the input"
        )
    case .failure(.noVisibleText): break
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
    demand(content.alert.isVisible != (content.withdrawal != nil), "nothing to see, or a text beside a withdrawal")
    demand(content.badge.map { (0...2_147_483_647).contains($0) } ?? true, "badge")
    demand(content.relevanceScore.map { (0...1).contains($0) } ?? true, "relevance-score")
    demand(content.collapseID.map { (1...64).contains($0.utf8.count) } ?? true, "collapse-id")
    for moment in [content.sent, content.expires].compactMap(\.self) {
        demand((0...253_402_300_799).contains(moment.secondsSince1970), "sent or expires")
    }
    switch content.sound {
    case .named(let name)?: demand(!name.isEmpty, "sound without a name")
    case .critical(let name, let volume)?: demand(!name.isEmpty && (0...1).contains(volume), "critical sound")
    case nil: break
    }
    demand(content.data != .null, "data is null")
    demand(checkedKeys.isDisjoint(with: content.other.keys), "a known key among the others")
}

private func checkWriting(of content: Content) {
    let json = content.json
    demand(JSONRule(json).isObject, "what was written is no JSON")
    // Written out, a number or a sound can take more bytes than it came in.
    guard json.count <= 4_096 else { return }
    do {
        let again = try Content(parsing: json)
        demand(again == content, "written and read again it is another content")
        // Equal strings may still differ in their bytes.
        demand(again.json == json, "written again it is another text")
    } catch { fatalError("what was written is not read: \(error)") }
}

private let checkedKeys: Set<String> = [
    "id", "topic", "sent", "expires", "collapse-id", "alert", "badge", "sound", "thread-id", "category",
    "interruption-level", "relevance-score", "data", "attachments", "overflow", "chart", "receipt", "template",
    "person", "badge-add", "withdraw",
]
