// The server's modules depend on this one, which is compiled before them and says what is missing; without it the compiler
// would say "no such module 'GRDB'".
#if !Server
    #error("this wants the trait Server: .package(…, traits: [\"Server\"]), or swift build --traits Server")
#endif
