package enum APNsEnvironment: String, Hashable, Sendable, CaseIterable, Codable {
    case sandbox
    case production
}
