import Crypto
import Foundation
import TestSupport
import Testing

@testable import PushSimulator
@testable import SimulatedAPNs

@Suite("Provider tokens") struct ProviderTokenTests {
    @Test("a token in a form other than Apple's is InvalidProviderToken") func malformed() throws {
        let fixture = try APNsFixture()
        let (id, team, now) = (fixture.key.keyID, fixture.key.teamID, fixture.now)
        let headers = [
            #"{"alg":"HS256","kid":"\#(id)"}"#, #"{"alg":"none","kid":"\#(id)"}"#, #"{"alg":"es256","kid":"\#(id)"}"#,
            #"{"kid":"\#(id)"}"#, #"{"alg":"ES256"}"#, #"{"alg":"ES256","kid":"UNKNOWN123"}"#, "[]", "",
        ]
        for header in headers {
            let request = try fixture.request(["authorization": try fixture.authorization(header: header)])
            #expect(fixture.answer(request) == "InvalidProviderToken", "\(header)")
        }
        let claims = [
            #"{"iat":\#(now)}"#, #"{"iss":"OTHERTEAM1","iat":\#(now)}"#, #"{"iss":"\#(team)"}"#,
            #"{"iss":"\#(team)","iat":"\#(now)"}"#, #"{"iss":"\#(team)","iat":\#(now).5}"#, #"{"iss":1,"iat":\#(now)}"#,
        ]
        for claim in claims {
            let request = try fixture.request(["authorization": try fixture.authorization(claims: claim)])
            #expect(fixture.answer(request) == "InvalidProviderToken", "\(claim)")
        }
        for text in [
            "bearer ", "bearer a.b", "bearer a.b.c", "bearer a.b.c.d", "bearer ...",
            "bearer " + String(repeating: "x", count: 9_000),
        ] {
            #expect(fixture.answer(try fixture.request(["authorization": text])) == "InvalidProviderToken")
        }
    }

    @Test("a token with another key's signature or any bit changed is InvalidProviderToken") func signatures() throws {
        let fixture = try APNsFixture()
        let other = try fixture.authorization(secret: P256.Signing.PrivateKey())
        #expect(fixture.answer(try fixture.request(["authorization": other])) == "InvalidProviderToken")
        let good = try fixture.authorization()
        #expect(fixture.answer(try fixture.request(["authorization": good])) == nil)
        let start = good.lastIndex(of: ".").map { good.distance(from: good.startIndex, to: $0) + 1 } ?? 0
        for place in stride(from: start, to: good.count - 1, by: 7) {
            var characters = Array(good)
            characters[place] = characters[place] == "A" ? "B" : "A"
            #expect(
                fixture.answer(try fixture.request(["authorization": String(characters)])) == "InvalidProviderToken")
        }
    }

    @Test("a token is valid for an hour, as checked at each request") func age() throws {
        let fixture = try APNsFixture()
        var identity = ConnectionIdentity()
        let request = try fixture.request()
        fixture.now += 3_600
        #expect(fixture.answer(request, &identity) == nil)
        fixture.now += 1
        #expect(fixture.answer(request, &identity) == "ExpiredProviderToken")
        #expect(fixture.answer(request) == "ExpiredProviderToken")
    }

    @Test("a token from more than five minutes ahead is refused") func future() throws {
        let fixture = try APNsFixture()
        func answer(_ fixture: APNsFixture, ahead: Int64) throws -> String? {
            let authorization = try fixture.authorization(issued: fixture.now + ahead)
            return fixture.answer(try fixture.request(["authorization": authorization]))
        }
        #expect(try answer(fixture, ahead: 300) == nil)
        #expect(try answer(fixture, ahead: 301) == "InvalidProviderToken")
        #expect(try answer(fixture, ahead: 7_200) == "InvalidProviderToken")
        for extreme in [Int64.min, Int64.max] {
            let claims = #"{"iss":"\#(fixture.key.teamID)","iat":\#(extreme)}"#
            let authorization = try fixture.authorization(claims: claims)
            #expect(fixture.answer(try fixture.request(["authorization": authorization])) != nil)
        }
    }

    @Test("a second token within 20 minutes is too many, and the first stays valid") func updates() throws {
        let fixture = try APNsFixture()
        var identity = ConnectionIdentity()
        let first = try fixture.request()
        #expect(fixture.answer(first, &identity) == nil)
        fixture.now += 1_199
        #expect(fixture.answer(try fixture.request(), &identity) == "TooManyProviderTokenUpdates")
        #expect(fixture.answer(first, &identity) == nil)
        fixture.now += 1
        let second = try fixture.request()
        #expect(fixture.answer(second, &identity) == nil)
        #expect(fixture.answer(first, &identity) == nil, "the older one has half an hour left")
        #expect(fixture.answer(second, &identity) == nil)
        fixture.now += 60
        #expect(fixture.answer(try fixture.request()) == nil, "each connection counts separately")
    }

    @Test("the first push binds a connection to its team") func binding() throws {
        let secret = P256.Signing.PrivateKey()
        let fixture = try APNsFixture()
        func answer(_ id: String, team: String, _ identity: inout ConnectionIdentity) throws -> String? {
            let key = AcceptedProviderKey(keyID: id, teamID: team, publicKey: secret.publicKey.pemRepresentation)
            fixture.core.tokens.register(key)
            let authorization = try ProviderTokenMaker(key: key, secret: secret).authorization(issued: fixture.now)
            return fixture.answer(try fixture.request(["authorization": authorization]), &identity)
        }
        var identity = ConnectionIdentity()
        #expect(fixture.answer(try fixture.request(), &identity) == nil)
        #expect(try answer("OTHERTEAM0", team: "TEAM000002", &identity) == "InvalidProviderToken")
        #expect(try answer("SAMETEAM00", team: fixture.key.teamID, &identity) == nil)
    }
}
