// The routes of EnrollmentHTTP for a back end of your own, and stores for its devices.
//
//   const phones = new PhoneRouter({ sender, account, load: store.load, save: store.save })
//   app.use(phones.middleware)
//
// `phones.fetch` takes the web's Request and returns a Response, as in Hono and Next.js.

export { PostgresStore } from './postgres.js'
export { bearerToken, PhoneRouter } from './router.js'
export { SQLiteStore } from './sqlite.js'
