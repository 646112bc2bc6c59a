import EndToEnd
import Foundation
import TestSupport
import Testing

@Suite("The search for plaintext") struct PlaintextSearchTests {
    private static let word = "Zwölf süße Äpfel 🍐"

    @Test("the search finds a planted word in each form and at each place, even across two reads")
    func planted() throws {
        let folder = try TemporaryFolder()
        var generator = SeededGenerator()
        let search = PlaintextSearch(for: [Self.word])
        let forms = PlaintextSearch.forms(of: Self.word)
        #expect(forms.count == 15)
        let noise = generator.bytes(3 << 20)
        for (form, bytes) in forms {
            for place in [0, 12_345, (1 << 20) - bytes.count / 2, (2 << 20) - 1, noise.count - bytes.count] {
                var planted = noise
                planted.replaceSubrange(place..<place + bytes.count, with: bytes)
                let file = folder.appending("planted")
                try Data(planted).write(to: file)
                let (findings, byteCount) = try search.search(file)
                #expect(byteCount == noise.count)
                #expect(findings.contains { $0.form == form }, "\(form) at \(place)")
            }
        }
        try Data(noise).write(to: folder.appending("clean"))
        #expect(try search.search(folder.appending("clean")).findings.isEmpty)
    }
}
