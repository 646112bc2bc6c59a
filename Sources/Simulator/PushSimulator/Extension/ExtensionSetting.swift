import PushService

extension ExtensionSetting {
    var environment: DeviceEnvironment {
        let memoryLimit = memoryLimit
        return device.environment(
            budget: WorkBudget {
                guard ProcessMemory.isMeaningful else { return nil }
                return memoryLimit.map { max(0, $0 - ProcessMemory.current) }
            })
    }
}

struct ExtensionSetting: Codable, Sendable {
    var device: SimulatedDevice
    /// The configuration of the simulator's own extension; an app's extension has its own.
    var standard: StandardConfiguration?
    /// The process's memory limit, in bytes; nil to withhold it from the process.
    var memoryLimit: Int?
}
