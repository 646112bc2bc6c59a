import SealedPush

/// The roles whose keys have names in a keyring.
protocol NamedRole: KeyRole { static func named(_ key: PublicKey<Self>) -> AnyPublicKey }
