/// The maximum payload size in bytes for every push type that wakes an extension. Source: Specification 5.
package enum PayloadLimit { package static let byteCount = 4_096 }
