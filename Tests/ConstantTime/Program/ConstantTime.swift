import CMemcheck
import Glibc

/// Works with secrets under valgrind, which reports each branch and each address that depends on one.
///
/// With `leak` it compares two secrets as nobody should, which has to be reported.
@main
enum Main {
    static func main() {
        guard memcheck_is_running() != 0 else { fatalError("run it with Scripts/constant-time, under valgrind") }
        let checks =
            CommandLine.arguments.dropFirst() == ["leak"]
            ? [Check("a comparison that ends early", leak)] : CryptoChecks.all + KeyChecks.all + MessageChecks.all
        var failed = false
        for check in checks {
            let before = memcheck_error_count()
            do { try check.run() } catch {
                failed = true
                print("\(check.name): \(error)")
                continue
            }
            let count = memcheck_error_count() - before
            print("\(check.name): \(count == 0 ? "nothing" : "\(count) reports")")
        }
        exit(failed ? 70 : 0)
    }

    private static func leak() {
        let (secret, other) = (Hidden(count: 32), Hidden(count: 32))
        var index = 0
        while index < 32, secret.bytes[index] == other.bytes[index] { index += 1 }
        print(published(index) < 32 ? "they differ" : "they are the same")
    }
}
