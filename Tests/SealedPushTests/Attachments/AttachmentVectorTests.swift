import Foundation
import PushCore
import TestSupport
import Testing

@testable import SealedPush

@Suite("The vectors of encrypted files")
struct AttachmentVectorTests {
    @Test("open, or do not, as each file of Tests/Vectors/Attachments says")
    func vectors() throws {
        var outcomes: [String: Int] = [:]
        for file in try Checkout.files(in: "Tests/Vectors/Attachments", ending: ".txt") {
            var fields: [String: String] = [:]
            for line in try Checkout.text(file).split(separator: "\n") where !line.hasPrefix("#") {
                let colon = try #require(line.firstRange(of: ": "))
                fields[String(line[..<colon.lowerBound])] = String(line[colon.upperBound...])
            }
            let (entry, stored) = (try #require(fields["entry"]), try #require(Hex.decode(fields["stored"] ?? "")))
            let outcome = try outcome(entry, stored)
            #expect(outcome.code == fields["outcome"], "\(file.lastPathComponent)")
            #expect(outcome.plaintext.map(Hex.encode) == fields["plaintext"], "\(file.lastPathComponent)")
            outcomes[outcome.code, default: 0] += 1
        }
        #expect(outcomes == ["opens": 4, "altered": 7, "cut": 1, "too-large": 1, "unreadable": 3])
    }

    private func outcome(_ entry: String, _ stored: [UInt8]) throws -> (code: String, plaintext: [UInt8]?) {
        let content = try Content(opening: Array(#"{"alert":{"body":"b"},"attachments":[\#(entry)]}"#.utf8))
        guard let attachment = content.attachments.first else { return ("unreadable", nil) }
        do throws(AttachmentError) {
            return ("opens", try SealedFileTests.open(attachment.file, stored))
        } catch {
            return (error.rawValue, nil)
        }
    }
}
