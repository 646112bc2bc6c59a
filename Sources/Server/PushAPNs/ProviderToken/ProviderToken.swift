struct ProviderToken {
    let authorization: String
    let generation: Int
    let issued: Moment
}
