import type { APNsAnswer, DeviceState, Push, Sender } from '../index.js'

/** What a server stores about a device of an account. */
export interface Entry {
  account: string
  /** `Device.toJSON()`. Anyone who can write it decides which keys are sealed to. */
  state: Required<DeviceState>
  /** Apple's token, 2 to 200 hexadecimal digits; null if your server has deleted it. */
  token: string | null
  environment: 'production' | 'sandbox'
  /** When the app last sent the token, in milliseconds since 1970, to compare with Apple's `timestamp`. */
  registeredMilliseconds: number
}

/** What is stored about an enrollment key. */
export interface Found {
  /** The key's devices, at most one for each account, always in the same order. */
  entries: Entry[]
  /** The number of devices that the account has under other enrollment keys; 0 without an account. */
  others: number
}

/** A request as the router reads it: the web's Request. */
export interface PhoneRequest {
  readonly method: string
  readonly url: string
  readonly headers: { get(name: string): string | null }
}

/** The functions that keep devices. If one throws, the phone is told to try again later. */
export interface DeviceStore {
  /** Returns what is stored about an enrollment key, also for accounts other than the given one. */
  load(enrollment: string, account: string | undefined): Found | Promise<Found>
  /**
   * Replaces the enrollment key's entries, in one transaction, and returns true. If `load` would no longer return `found`, it
   * changes nothing and returns false. It drops what waits for a removed device. If the account's entry has proven a key, it also
   * removes the account's other entries with the same token, which remain after the app was deleted and installed again.
   */
  save(enrollment: string, account: string | undefined, found: Found, entries: Entry[]): boolean | Promise<boolean>
}

/**
 * Answers each request of EnrollmentHTTP, with the codes and bodies of `sealedpush serve`. An account has at most 100 devices. A
 * process accepts 60 of an account's requests at once, one more each second, and five tests an hour.
 */
export class PhoneRouter<Context = any> {
  /**
   * @param settings `account`: returns the account whose login came with the request, or undefined. `context` is what `fetch` was
   *   given, or the request of Express. `load` and `save`: see DeviceStore. `test`: sends a test push and returns nothing, or the
   *   reason why this device gets none; without it, there are no tests. `service`: the name that the app uses for this server (see
   *   Leaving); by default, the topic. `senderSet`: the newest sender set, pushrecord..... `base`: the path before `/v1`. `report`:
   *   is told where an error happened; by default, it prints the type and the place of the error, and the text only of a SettingError, such as that `account` returned a number. `clock`: returns
   *   Unix seconds.
   * @throws SettingError, RecordError
   */
  constructor(
    settings: DeviceStore & {
      sender: Sender
      account(request: PhoneRequest, context: Context): string | null | undefined | Promise<string | null | undefined>
      test?(entry: Entry, push: Push): string | void | Promise<string | void>
      service?: string
      senderSet?: string
      base?: string
      report?(what: string, error: unknown): void
      clock?(): number
    },
  )

  /** Returns the response to a request, and never rejects. A path that isn't a phone's gets 404. */
  readonly fetch: (request: Request, context?: Context) => Promise<Response>
  /** For Express and node:http. It must come before a middleware that reads bodies, such as express.json(). */
  readonly middleware: (request: any, response: any, next?: (error?: unknown) => void) => void

  /** The sender that challenges keys; another one may replace it. While it's undefined, phones get 503 `no-sender`. */
  sender: Sender | undefined
  /** The sender set that phones get; a newer one may replace it. */
  senderSet: string | undefined
}

/** Returns the token in a request's `Authorization: Bearer` header, or undefined. Takes the web's requests, and Express's. */
export function bearerToken(request: { readonly headers: PhoneRequest['headers'] | { authorization?: string } }): string | undefined

/** A database of better-sqlite3 or node:sqlite. */
export interface SQLiteDatabase {
  exec(statements: string): unknown
  prepare(statement: string): {
    run(...values: any[]): { changes: number | bigint }
    get(...values: any[]): any
    all(...values: any[]): any[]
  }
}

/** The devices of all accounts, in the table `sealed_push_device`, which Clients/Python shares. */
export class SQLiteStore implements DeviceStore {
  /**
   * Creates the table if it doesn't exist, and sets `busy_timeout` to 5 seconds.
   * @param database A connection that has no open transaction when the router uses it.
   * @throws SettingError
   */
  constructor(database: SQLiteDatabase)
  readonly load: (enrollment: string, account: string | undefined) => Found
  readonly save: (enrollment: string, account: string | undefined, found: Found, entries: Entry[]) => boolean
  /** Returns the account's devices that messages can be sealed and sent to. */
  devices(account: string): Entry[]
  /** If Apple's answer says so, marks the token as refused until the app sends it again. Returns whether it did. */
  refuse(entry: Entry, answer: APNsAnswer): boolean
}

/** A pool or client of `pg`. */
export interface PostgresQueries {
  query(statement: string, values: unknown[]): Promise<{ rows: any[] }>
}

/** The devices of all accounts, in the table `sealed_push_device` of PostgreSQL 12 or later, which Clients/Python shares. */
export class PostgresStore implements DeviceStore {
  /** The statements that create the table and two functions, for a migration. They can be repeated. */
  static readonly schema: string
  /** @throws SettingError */
  constructor(pool: PostgresQueries)
  readonly load: (enrollment: string, account: string | undefined) => Promise<Found>
  readonly save: (enrollment: string, account: string | undefined, found: Found, entries: Entry[]) => Promise<boolean>
  /** Returns the account's devices that messages can be sealed and sent to. */
  devices(account: string): Promise<Entry[]>
  /** If Apple's answer says so, marks the token as refused until the app sends it again. Returns whether it did. */
  refuse(entry: Entry, answer: APNsAnswer): Promise<boolean>
}
