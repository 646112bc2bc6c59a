internal import ArgumentParser
internal import Foundation
internal import PushService
internal import SealedPush

/// An account with a name as an argument: `name,url,token,key`.
struct AccountArgument: ExpressibleByArgument {
    let account: PushAccount
    /// The app's login token at that server.
    let login: String

    init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, let name = AccountName(parsing: parts[0]), let server = RunCommand.url(parts[1]),
            !parts[2].isEmpty
        else { return nil }
        login = parts[2]
        if let sender = try? SenderPublicKey(parsing: parts[3]) {
            account = PushAccount(name, server: server, trusting: [sender])
        } else if let authority = try? AuthorityPublicKey(parsing: parts[3]) {
            account = PushAccount(name, server: server, trusting: [], authorities: [authority])
        } else {
            return nil
        }
    }
}
