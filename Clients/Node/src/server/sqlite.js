// Stores devices in SQLite, for a PhoneRouter. index.d.ts documents the members.

import { SettingError } from '../errors.js'
import { isProven, isRefusal } from './entries.js'

const SCHEMA = `
CREATE TABLE IF NOT EXISTS sealed_push_device (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    enrollment TEXT NOT NULL,
    state TEXT NOT NULL,
    proven INTEGER NOT NULL,
    -- Becomes part of a URL path.
    token TEXT CHECK (token NOT GLOB '*[^0-9A-Fa-f]*' AND length(token) BETWEEN 2 AND 200),
    environment TEXT NOT NULL CHECK (environment IN ('production', 'sandbox')),
    registered INTEGER NOT NULL,
    -- Apple's reason if it has refused the token. Cleared when the app sends its token again.
    token_refused TEXT,
    UNIQUE (account, enrollment)
) STRICT;
CREATE INDEX IF NOT EXISTS sealed_push_device_enrollment ON sealed_push_device (enrollment);
-- A key can be proven for only one account (Specification 11.5.8).
CREATE UNIQUE INDEX IF NOT EXISTS sealed_push_device_proven ON sealed_push_device (enrollment) WHERE proven;
`
const COLUMNS = 'SELECT account, state, token, environment, registered FROM sealed_push_device '
const SAVE = `
INSERT INTO sealed_push_device (account, enrollment, state, proven, token, environment, registered) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (account, enrollment) DO UPDATE SET state = excluded.state, proven = excluded.proven, token = excluded.token,
    environment = excluded.environment, registered = excluded.registered,
    token_refused = CASE WHEN registered = excluded.registered THEN token_refused END`

/** The devices of all accounts, in the table `sealed_push_device`. */
export class SQLiteStore {
  #database

  constructor(database) {
    if (typeof database?.exec !== 'function' || typeof database.prepare !== 'function') throw new SettingError('database')
    database.exec('PRAGMA busy_timeout = 5000')
    database.exec(SCHEMA)
    this.#database = database
  }

  // Functions without `this`, so that they can be passed on.
  load = (enrollment, account) => {
    const entries = this.#rows(`${COLUMNS} WHERE enrollment = ? ORDER BY account`, enrollment)
    const others = 'SELECT count(*) AS count FROM sealed_push_device WHERE account = ? AND enrollment <> ?'
    return { entries, others: Number(this.#database.prepare(others).get(account ?? null, enrollment).count) }
  }

  save = (enrollment, account, found, entries) =>
    this.#transaction(() => {
      if (JSON.stringify(this.load(enrollment, account)) !== JSON.stringify(found)) return false
      const run = (statement, ...values) => this.#database.prepare(statement).run(...values)
      for (const { account: each } of found.entries) {
        if (entries.some(({ account }) => account === each)) continue
        run('DELETE FROM sealed_push_device WHERE account = ? AND enrollment = ?', each, enrollment)
      }
      for (const each of entries) {
        const { account, state, token, environment, registeredMilliseconds } = each
        if (isProven(each)) {
          // From before the app was deleted and installed again.
          run('DELETE FROM sealed_push_device WHERE account = ? AND token = ? AND enrollment <> ?', account, token, enrollment)
        }
        run(SAVE, account, enrollment, JSON.stringify(state), isProven(each) ? 1 : 0, token, environment, registeredMilliseconds)
      }
      return true
    })

  devices(account) {
    return this.#rows(`${COLUMNS} WHERE account = ? AND proven AND token IS NOT NULL AND token_refused IS NULL ORDER BY id`, account)
  }

  refuse({ account, token, registeredMilliseconds }, answer) {
    if (!isRefusal(answer, registeredMilliseconds)) return false
    const statement = 'UPDATE sealed_push_device SET token_refused = ? WHERE account = ? AND token = ? AND registered = ?'
    return this.#database.prepare(statement).run(answer.reason, account, token, registeredMilliseconds).changes > 0
  }

  #rows(statement, value) {
    return this.#database.prepare(statement).all(value).map(({ account, state, token, environment, registered }) => ({
      account, state: JSON.parse(state), token, environment, registeredMilliseconds: Number(registered),
    }))
  }

  #transaction(work) {
    // Outside the handler: if the application has left a transaction open, this throws, and that transaction stays.
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.#database.exec('COMMIT')
      return result
    } catch (error) {
      this.#database.exec('ROLLBACK')
      throw error
    }
  }
}
