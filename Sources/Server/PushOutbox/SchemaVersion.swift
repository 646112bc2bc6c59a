/// The version of a store's tables, and the oldest version of the programs that can use them. A version that only adds
/// columns, tables, or functions raises the first number and keeps the second, so that its predecessor can be installed
/// again.
package struct SchemaVersion: Hashable, Sendable {
    package let number: Int
    package let oldest: Int

    /// Creates a version that programs from version `oldest` on can use; by default, only programs that know it.
    package init(_ number: Int, oldest: Int? = nil) {
        self.number = number
        self.oldest = oldest ?? number
    }

    /// Creates a version from its stored form, or returns nil if it's invalid.
    package init?(stored: Int) {
        self.init(stored & 0xffff, oldest: stored >> 16 == 0 ? nil : stored >> 16)
        guard oldest >= 1, oldest <= number else { return nil }
    }

    /// One integer for both: the number, and above its 16 bits the oldest version if that differs.
    package var stored: Int { number == oldest ? number : oldest << 16 | number }

    /// Returns the statements that upgrade these tables for a program; none if it can use them as they are.
    ///
    /// - Parameters:
    ///   - program: The version that the program creates.
    ///   - steps: The statements that lead from each version to the next.
    /// - Throws: `otherSchema` if the tables are too new, or too old for the steps.
    package func upgrade(to program: SchemaVersion, by steps: [Int: String]) throws(OutboxError) -> [String] {
        guard oldest <= program.number else { throw .otherSchema }
        guard number < program.number else { return [] }
        let needed = (number..<program.number).compactMap { steps[$0] }
        guard needed.count == program.number - number else { throw .otherSchema }
        return needed
    }
}
