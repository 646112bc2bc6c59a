/// Stops the program with a sentence where something that must hold does not: libFuzzer then keeps the input.
///
/// A release build drops the sentence of a precondition, but not this one.
public func demand(_ isTrue: Bool, _ sentence: @autoclosure () -> String) {
    guard !isTrue else { return }
    fatalError(sentence())
}
