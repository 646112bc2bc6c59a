/// A line of a batch: its number, from 1, and its status in the answer, by HTTP's number.
package struct AnswerLine: Sendable {
    package let number: Int
    package let status: Int

    package init(number: Int, status: Int) {
        self.number = number
        self.status = status
    }
}
