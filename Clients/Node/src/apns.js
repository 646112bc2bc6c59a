// Sends sealed pushes to Apple over one HTTP/2 connection.

import { createPrivateKey, sign } from 'node:crypto'
import http2 from 'node:http2'
import { createSecureContext } from 'node:tls'
import { inspect } from 'node:util'
import { SettingError } from './errors.js'
import { isUnicode, options } from './protocol/text.js'

const SERVERS = { production: 'https://api.push.apple.com', sandbox: 'https://api.sandbox.push.apple.com' }
const HEADERS = ['apns-topic', 'apns-push-type', 'apns-priority', 'apns-id', 'apns-collapse-id', 'apns-expiration']
const MOST_BYTES = 4096
// In milliseconds. Apple accepts a provider token for an hour, and a new one every 20 minutes.
const RENEWED = 50 * 60_000
const REPLACEABLE = 20 * 60_000
// A connection that has been idle for long may be gone without notice.
const IDLE = 10 * 60_000
// The latest time that Apple can state, in milliseconds since 1970.
const LATEST = 253402300799999

const WRONG_REQUEST = [
  'BadCollapseId', 'BadExpirationDate', 'BadMessageId', 'BadPath', 'BadPriority', 'BadRequestPayload', 'BadTopic', 'DuplicateHeaders',
  'InvalidPushType', 'MethodNotAllowed', 'MissingDeviceToken', 'MissingTopic', 'PayloadEmpty', 'PayloadTooLarge',
]

/** Sends pushes to Apple. index.d.ts documents the members. */
export class APNs {
  #key
  #keyID
  #teamID
  #environment
  #server
  #ca
  #timeout
  #token
  #session
  // Each open connection: its requests, and whether it was established.
  #states = new Map()

  constructor(settings) {
    const names = ['key', 'keyID', 'teamID', 'environment', 'server', 'ca', 'timeoutSeconds']
    const { key, keyID, teamID, environment, server, ca, timeoutSeconds = 30 } = options(settings, ...names)
    this.#key = readKey(key)
    if (![keyID, teamID].every((id) => typeof id === 'string' && /^[A-Z0-9]{10}$/.test(id))) throw new SettingError('provider-id')
    if (server === undefined && !Object.hasOwn(SERVERS, environment)) throw new SettingError('environment')
    if (!(timeoutSeconds >= 1 && timeoutSeconds <= 600)) throw new SettingError('timeout')
    this.#server = server === undefined ? SERVERS[environment] : readServer(server)
    this.#environment = environment
    this.#keyID = keyID
    this.#teamID = teamID
    this.#ca = checkedAuthority(ca)
    this.#timeout = timeoutSeconds * 1000
  }

  async send(push, token) {
    const { payload, headers } = readPush(push)
    if (typeof token !== 'string' || !/^([0-9A-Fa-f]{2}){1,100}$/.test(token)) throw new SettingError('device-token')
    const answer = await this.#answer({
      ':method': 'POST', ':path': `/3/device/${token}`, authorization: `bearer ${this.#providerToken()}`, ...headers,
    }, payload)
    const expired = answer.reason === 'ExpiredProviderToken' && Date.now() - this.#token.made >= REPLACEABLE
    if (expired) this.#token = undefined
    return answer
  }

  get environment() {
    return this.#environment
  }

  close() {
    if (this.#session !== undefined) this.#retire(this.#session)
  }

  /** Never rejects: without a response, the outcome is `retry`. */
  #answer(headers, payload) {
    return new Promise((resolve) => {
      let session, request
      try {
        session = this.#connected()
        request = session.request(headers)
      } catch (error) {
        resolve(noAnswer('connection-lost', error))
        return
      }
      const state = this.#states.get(session)
      state.requests.add(request)
      let [status, body, failure] = [0, '', undefined]
      // A connection that broke the protocol may be stuck without any event, so that only this timer ends the request.
      const timer = setTimeout(() => {
        settle(noAnswer('timed-out'))
        // The connection may be dead. Its other requests wait for their own time, and new ones use another connection.
        this.#retire(session)
      }, this.#timeout)
      const settle = (answer) => {
        resolve(answer)
        clearTimeout(timer)
        state.requests.delete(request)
        request.destroy()
        if (state.isRetired && state.requests.size === 0) session.destroy()
      }
      request.setEncoding('utf8')
      request.on('response', (received) => { status = received[':status'] })
      request.on('data', (text) => {
        body += text
        if (body.length > MOST_BYTES) settle(read(status, body))
      })
      request.on('error', (error) => { failure = error })
      request.on('close', () => {
        // Of a response that was cut, the status counts.
        if (status !== 0) settle(read(status, body))
        else settle(noAnswer(state.isEstablished ? 'connection-lost' : 'unreachable', failure))
      })
      request.end(payload)
    })
  }

  /** Returns the current connection, or a new one. */
  #connected() {
    const current = this.#session
    if (current !== undefined && !current.closed && !current.destroyed) return current
    const session = http2.connect(this.#server, { ca: this.#ca })
    this.#session = session
    const state = { requests: new Set(), isEstablished: false, isRetired: false }
    this.#states.set(session, state)
    // Without a listener, an error would end the process. Each request reports it. After GOAWAY, Node closes the connection, and
    // ends the requests that the server won't process.
    session.on('error', () => this.#retire(session))
    session.on('connect', () => { state.isEstablished = true })
    session.on('close', () => {
      this.#retire(session)
      this.#states.delete(session)
    })
    session.setTimeout(IDLE, () => this.#retire(session))
    // The timers of requests keep the process running.
    session.unref()
    return session
  }

  /** Uses the connection for no further requests. */
  #retire(session) {
    if (this.#session === session) this.#session = undefined
    const state = this.#states.get(session)
    if (state === undefined) return
    state.isRetired = true
    if (session.connecting || state.requests.size === 0) session.destroy()
    else session.close()
  }

  #providerToken() {
    const now = Date.now()
    if (this.#token === undefined || Math.abs(now - this.#token.made) >= RENEWED) {
      const parts = [{ alg: 'ES256', kid: this.#keyID }, { iss: this.#teamID, iat: Math.floor(now / 1000) }]
      const unsigned = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
      const signature = sign('sha256', Buffer.from(unsigned), { key: this.#key, dsaEncoding: 'ieee-p1363' })
      this.#token = { made: now, text: `${unsigned}.${signature.toString('base64url')}` }
    }
    return this.#token.text
  }

  [inspect.custom]() {
    return `APNs(${this.#environment ?? 'server'}, key ${this.#keyID})`
  }
}

/** Returns what a response means. Docs/Operations.md, chapter 9, lists the reasons. */
function read(status, body) {
  const { reason, timestamp } = parsed(body)
  return { outcome: outcomeOf(status, reason, timestamp), status, reason, timestamp }
}

/** Returns Apple's reason and time. A gateway may answer with anything, which is neither kept nor shown. */
function parsed(body) {
  let members
  try {
    members = JSON.parse(body)
  } catch {}
  const { reason, timestamp } = members ?? {}
  const isTime = Number.isSafeInteger(timestamp) && timestamp > 0 && timestamp <= LATEST
  return {
    reason: typeof reason === 'string' && /^[A-Za-z]{1,64}$/.test(reason) ? reason : undefined,
    timestamp: isTime ? timestamp : undefined,
  }
}

function outcomeOf(status, reason, timestamp) {
  // TLS proves that Apple answered, so the status decides. A body would be new, but no reason to send the push again.
  if (status === 200) return 'accepted'
  if (status === 410) {
    return ['Unregistered', 'ExpiredToken'].includes(reason) && timestamp !== undefined ? 'gone' : 'unknown'
  }
  if (status === 429 || status >= 500) return 'retry'
  if (['IdleTimeout', 'ExpiredProviderToken', 'UnrelatedKeyIdInToken'].includes(reason)) return 'retry'
  if (status === 401 || status === 403 || reason === 'TopicDisallowed') return 'stop'
  if (['BadDeviceToken', 'DeviceTokenNotForTopic'].includes(reason)) return 'refused'
  return [404, 405, 413].includes(status) || WRONG_REQUEST.includes(reason) ? 'wrong' : 'unknown'
}

function noAnswer(reason, error) {
  const { code } = error?.cause ?? error ?? {}
  const detail = typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : undefined
  return { outcome: 'retry', status: undefined, reason, timestamp: undefined, ...(detail && { detail }) }
}

/** Accepts a `Push`, or one that was stored as JSON. */
function readPush(push) {
  const { payload, headers } = push ?? {}
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload
  // Buffer.from would replace an unpaired surrogate.
  const isText = typeof payload !== 'string' || isUnicode(payload)
  const isBody = bytes instanceof Uint8Array && isText && bytes.length > 0 && bytes.length <= MOST_BYTES
  if (!isBody || typeof headers !== 'object' || headers === null) throw new SettingError('push')
  const entries = Object.entries(headers)
  // Visible ASCII, as in all of a push's headers.
  const isKnown = ([name, value]) => HEADERS.includes(name) && typeof value === 'string' && /^[!-~]{1,256}$/.test(value)
  if (!entries.every(isKnown) || !Object.hasOwn(headers, 'apns-topic')) throw new SettingError('push')
  return { payload: bytes, headers: Object.fromEntries(entries) }
}

function readKey(key) {
  let read
  try {
    read = createPrivateKey(key)
  } catch {
    // OpenSSL's error may contain a part of the key.
    throw new SettingError('provider-key')
  }
  if (read.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new SettingError('provider-key')
  return read
}

/** Returns certificates that Node can read, or throws. Otherwise, each push would end as if the server were unreachable. */
function checkedAuthority(ca) {
  try {
    createSecureContext({ ca })
  } catch {
    throw new SettingError('ca')
  }
  return ca
}

function readServer(server) {
  let url
  try {
    url = new URL(server)
  } catch {}
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') throw new SettingError('server')
  return url.origin
}
