import Foundation
import PushApp

/// The app's pushes. The session is a login at the app's own server.
@MainActor let pushes = SealedPushes(.messages, server: Build.server) { session in
    "Bearer \(try await pushToken(for: session))"
}

/// The `data` of this app's messages.
nonisolated struct MessageData: Decodable {
    let thread: String?
}

/// Returns a push token for a session, which your server gets from `POST /v1/logins` (Docs/ServerGuide.md, 1). Replace it with
/// a request to your own server.
nonisolated private func pushToken(for session: String) async throws -> String {
    #if DEBUG
    // To try it without your own server, log in with the token itself (Docs/Quickstart.md).
    return session
    #else
    guard let server = Build.server else { throw URLError(.badURL) }
    var request = URLRequest(url: server.appending(path: "push-token"))
    request.httpMethod = "POST"
    request.setValue("Bearer \(session)", forHTTPHeaderField: "Authorization")
    let (data, response) = try await URLSession.shared.data(for: request)
    guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.userAuthenticationRequired) }
    return String(decoding: data, as: UTF8.self)
    #endif
}
