public import ArgumentParser
public import PushKeyring

extension AnyPublicKey.Kind: ExpressibleByArgument {}
