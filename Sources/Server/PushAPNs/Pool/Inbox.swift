internal import PushCore

/// Passes values from any thread to the event loop, many per turn.
final class Inbox<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var isDraining = false
    }

    private let state = Locked(State())

    /// Adds a value. Returns whether the caller must trigger draining, which is true for the first value after each drain.
    func append(_ element: Element) -> Bool {
        state.withLock { state in
            state.elements.append(element)
            defer { state.isDraining = true }
            return !state.isDraining
        }
    }

    func drain() -> [Element] {
        state.withLock { state in
            let elements = state.elements
            state.elements = []
            // The next batch is usually about the same size.
            state.elements.reserveCapacity(elements.count)
            state.isDraining = false
            return elements
        }
    }
}
