import Foundation
import FuzzSupport

@testable import PushSimulator

/// A push's file, and whether the extension wakes for it: what parses is within the limits, and parses again to the same.
func checkPushFile(_ bytes: [UInt8]) {
    let bytes = Data(bytes)
    do {
        let push = try PushFile(parsing: bytes)
        demand(bytes.count <= 65_536, "a file of \(bytes.count) bytes is read")
        demand(push.json.count <= 4_096, "a payload of \(push.json.count) bytes")
        demand(depth(of: push.payload) <= 64, "a payload of \(depth(of: push.payload)) levels")
        demand(push.payload["Simulator Target Bundle"] == nil, "the simulator's own key is in the payload")
        checkWriting(of: push)
        checkWaking(of: push)
    } catch {
        demand(!error.description.isEmpty, "an error without words")
    }
}

private func checkWriting(of push: PushFile) {
    do {
        let again = try PushFile(parsing: push.json)
        demand(again.targetBundle == nil, "a target comes out of nothing")
        demand(isSame(again.payload, push.payload), "written and read again it differs")
        let decision = WakeRule.decide(push, pushType: "alert")
        demand(WakeRule.decide(again, pushType: "alert") == decision, "written and read again it is decided otherwise")
    } catch {
        fatalError("what was written is not read: \(error)")
    }
}

/// Numbers by their value: Foundation reads `-0.0` as such and writes `-0`, which it reads as an integer.
private func isSame(_ first: Any, _ second: Any) -> Bool {
    switch (first, second) {
    case (let first as [String: Any], let second as [String: Any]):
        first.count == second.count && first.allSatisfy { isSame($1, second[$0] ?? NSNull()) }
    case (let first as [Any], let second as [Any]):
        first.count == second.count && zip(first, second).allSatisfy { isSame($0, $1) }
    case (let first as String, let second as String): first.utf8.elementsEqual(second.utf8)
    case (let first as NSNumber, let second as NSNumber): first.doubleValue == second.doubleValue
    default: first is NSNull && second is NSNull
    }
}

private func checkWaking(of push: PushFile) {
    let aps = push.payload["aps"] as? [String: Any]
    switch WakeRule.decide(push, pushType: "alert") {
    case .wakes: demand(aps?["alert"] != nil && aps?["mutable-content"] as? Int == 1, "it wakes without cause")
    case .showsOriginal: demand(aps?["alert"] != nil, "it shows what is not there")
    case .showsNothing: break
    }
    guard case .showsNothing = WakeRule.decide(push, pushType: "background") else {
        fatalError("a background push shows something")
    }
}

private func depth(of value: Any) -> Int {
    switch value {
    case let members as [String: Any]: 1 + (members.values.map(depth).max() ?? 0)
    case let elements as [Any]: 1 + (elements.map(depth).max() ?? 0)
    default: 0
    }
}
