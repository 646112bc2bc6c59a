internal import SealedPush

/// Keys whose secrets anybody can read, in this repository: an app that believes one shows whatever anybody seals.
enum PublishedKeys {
    private static let texts: Set<String> = [
        "pushsender159w574d8l6hmv0r2z6kk55535xn84f5fh0u0rredej5frj2kvclqxvm9wj",
        "pushsender1wzxhhf7u3rzz6zt3mzqetjag8xsqqum8u7ekujrwzztg5g280ghsvpv6st",
        "pushsender1r0q5r7ff7zqm0dnc7yqze8z05w9qkxr3n63evzu2uyfgmvtda9us25ywft",
        "pushsender1lsf9v58mk55nr9fm2da8022r2pfzpfvcuaynsgcczpaf5ckdxssq8sga8s",
        "pushsender1tqznzzyjlzw20t4w8t39gv6dakmxxs2ywly2ar8jap5vnjx6933qlkqag3",
        "pushauthority1ae25c2n3cyt52xfcph55cuu03qq0rwjkegl728crv4q36cfa2ezq95zts4",
        "pushauthority1jxyjcgkztmw4qt0fcnxntxt2sv6ezfuycg782ajwaa00ntlurd3shg88xz",
        "pushauthority1k03e583a7dtkqkdd7uglazndtlps6rax73mkt6unnxsrxeehzgns4ftpfl",
    ]

    /// Whether this program may believe them: in a debug build alone, for trials and tests; and on Linux, where there are no
    /// phones.
    static let mayBeTrusted: Bool = {
        #if DEBUG || os(Linux)
            true
        #else
            false
        #endif
    }()

    /// These keys, without the published ones unless those may be trusted.
    static func trusted<Key: CustomStringConvertible>(_ keys: [Key], ifDebug isDebug: Bool = mayBeTrusted) -> [Key] {
        isDebug ? keys : keys.filter { !texts.contains($0.description) }
    }
}
