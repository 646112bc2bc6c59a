import TestSupport
import Testing

@testable import SealedPush

/// ContentParts 17.3.
@Suite("The translations of a text") struct TranslationTests {
    private func bytes(_ alert: String) -> [UInt8] { Array(#"{"alert":{"body":"b",\#(alert)}}"#.utf8) }

    @Test("Keys and arguments are read and written under Apple's names") func roundTrip() throws {
        var content = Content(title: "t", body: "b")
        content.alert.titleTranslation = Content.Translation(key: "T", arguments: ["1", ""])
        content.alert.subtitleTranslation = Content.Translation(key: "S")
        content.alert.bodyTranslation = Content.Translation(key: "B", arguments: ["%@"])
        try content.checkForSealing()
        let json =
            #"{"alert":{"title":"t","body":"b","title-loc-key":"T","title-loc-args":["1",""],"#
            + #""subtitle-loc-key":"S","loc-key":"B","loc-args":["%@"]}}"#
        #expect(String(decoding: content.json, as: UTF8.self) == json)
        #expect(try Content(parsing: content.json) == content)
        #expect(try Content(opening: content.json) == content)
    }

    @Test("A key or arguments that break a rule are refused when sealing, and cost a device only that translation")
    func broken() throws {
        let good = #""title-loc-key":"T""#
        for (member, fault) in [
            (#""loc-key":"""#, "alert.loc-key"), (#""loc-key":7"#, "alert.loc-key"),
            (#""loc-key":"\#(String(repeating: "k", count: 257))""#, "alert.loc-key"),
            (#""loc-args":[]"#, "alert.loc-args"), (#""loc-key":"k","loc-args":"a""#, "alert.loc-args"),
            (#""loc-key":"k","loc-args":["a",1]"#, "alert.loc-args"),
            (
                #""loc-key":"k","loc-args":[\#(Array(repeating: #""""#, count: 17).joined(separator: ","))]"#,
                "alert.loc-args"
            ),
        ] {
            let bytes = bytes("\(good),\(member)")
            #expect(throws: ContentError.invalid(fault), "\(member)") { try Content(parsing: bytes) }
            let opened = try Content(opening: bytes)
            #expect(opened.alert.body == "b" && opened.alert.bodyTranslation == nil, "\(member)")
            #expect(opened.alert.titleTranslation == Content.Translation(key: "T"), "\(member)")
        }
        #expect(throws: ContentError.null("alert.loc-key")) { try Content(parsing: bytes(#""loc-key":null"#)) }
    }

    @Test("A translation that an app made is checked before sealing, and names its member") func checked() {
        let changes: [(String, (inout Content.Alert) -> Void)] = [
            ("alert.title-loc-key", { $0.titleTranslation = Content.Translation(key: "") }),
            (
                "alert.subtitle-loc-key",
                {
                    $0.subtitleTranslation = Content.Translation(key: String(repeating: "é", count: 129))
                }
            ),
            (
                "alert.loc-args",
                {
                    $0.bodyTranslation = Content.Translation(key: "k", arguments: Array(repeating: "", count: 17))
                }
            ),
        ]
        for (member, change) in changes {
            var content = Content(body: "b")
            change(&content.alert)
            #expect(throws: ContentError.invalid(member)) { try content.checkForSealing() }
        }
        var content = Content()
        content.alert.bodyTranslation = Content.Translation(key: "k")
        // The app may lack the text.
        #expect(throws: ContentError.noVisibleText) { try content.checkForSealing() }
    }
}
