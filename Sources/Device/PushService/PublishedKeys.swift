/// Keys whose secrets this repository publishes. An app that trusted one would show messages from anyone.
enum PublishedKeys {
    private static let texts: Set<String> = [
        "pushsender14tr562hekmdndg9w3nzv9222vhpqdve2xpl86fsduus5hr7vvyfs4f33c2",
        "pushsender1rap9c6rwcs3d8pquedwhstye9genpy6z7awxnxaalf8zwl0a2dcs2dwsvj",
        "pushsender1h5yac7zcsyf9zv69hynsnhc2mk9edz4efxeeyej8stgveyz6hc5s7wd6yc",
        "pushsender18v4jhdxu48a0m8gmnus6xjrllecxun3ktpth3s6glul34v8y6p9s5v77gt",
        "pushsender1ulxfayuww5wudywmvqulsmkvl47z5nk2uz0exnp7apmjuxefdpsqrtzys5",
        "pushsender1njjmuers6spvzhleg2avmhuhz6p4mk88qa2t4agyyga33y0tj4rql9wkl2",
        "pushsender12afmk6670w96a43t75nm98mrw7k8x8hv5r3w5p34x9c2xccuja4s30mjgf",
        "pushsender1gef45nqvpx34gh09teerlsk2mavy42guqjwt89wgcyx84q5ypdcq7e7w9v",
        "pushsender15ysfzr59xfu8a5ecktp85t5ylxyralrr50dwgjpvuyh8hrqr6d7qvrdtjv",
        "pushauthority1v5sf4lcqcyg0sl2zhsg6a86hj34y4g6u7zr7hn394674gxm0ffhqdydatu",
        "pushauthority1ae25c2n3cyt52xfcph55cuu03qq0rwjkegl728crv4q36cfa2ezq95zts4",
        "pushauthority1jxyjcgkztmw4qt0fcnxntxt2sv6ezfuycg782ajwaa00ntlurd3shg88xz",
        "pushauthority1k03e583a7dtkqkdd7uglazndtlps6rax73mkt6unnxsrxeehzgns4ftpfl",
        "pushauthority1kf80rvj5v88c0sqtpu3lenwxnskjzjnwzz7wx4d7sgv4gvldr32sy0xyd5",
    ]

    /// Whether this program may trust them: only in debug builds, for trials and tests, and on Linux, which has no phones.
    static let mayBeTrusted: Bool = {
        #if DEBUG || os(Linux)
        true
        #else
        false
        #endif
    }()

    /// Returns the keys, without the published ones unless those may be trusted.
    static func trusted<Key: CustomStringConvertible>(_ keys: [Key], ifDebug isDebug: Bool = mayBeTrusted) -> [Key] {
        isDebug ? keys : keys.filter { !texts.contains($0.description) }
    }
}
