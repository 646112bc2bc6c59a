// The requests that phones send to their back end (Docs/EnrollmentHTTP.md). index.d.ts documents the members.

import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { Device, Leaving } from '../device.js'
import { RecordError, SealedPushError, SettingError } from '../errors.js'
import { decode, encode, ENROLLMENT } from '../protocol/key-text.js'
import { DEVICE, readRecord, SENDERS } from '../protocol/records.js'
import { byteCount, isTopic, options, seconds } from '../protocol/text.js'
import { isSender } from '../sender.js'
import { members, required } from './body.js'
import { isProven } from './entries.js'
import { serve } from './middleware.js'
import { answered, malformed, noSender, Problem, tooMany, unavailable } from './problem.js'
import { RateLimiter } from './rates.js'

const MOST_DEVICES = 100
const MOST_BYTES = 65536
// Anyone may send a leaving.
const MOST_LEAVING_BYTES = 1024
const LONGEST_STATE = 4096
// A request loses a race for a phone only to another one that succeeds.
const MOST_TRIES = 50
const PATH = /^\/v1\/(?:phones\/(?<key>[^/]+)(?<part>\/answers|\/test)?|(?<name>leavings|sender-set))$/
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY']
const TEST = { alert: { title: 'Test', body: 'It works: this message was sealed for this device alone.' } }
const SKIPPED = { expired: 'record-expired', 'not-yet-valid': 'record-not-yet-valid' }
const SETTINGS = ['sender', 'account', 'load', 'save', 'test', 'service', 'senderSet', 'base', 'report', 'clock']

/** Answers each request of EnrollmentHTTP, with the codes and bodies of `sealedpush serve`. */
export class PhoneRouter {
  #sender
  #topic
  #service
  #senderSet
  #base
  #functions
  #clock
  #report
  #requests
  #tests

  constructor(settings) {
    const given = options(settings, ...SETTINGS)
    const { sender, account, load, save, test, service, senderSet, base = '', report = log, clock = () => Date.now() / 1000 } = given
    if (!isSender(sender)) throw new SettingError('sender')
    const functions = { account, load, save, report, clock, ...(test !== undefined && { test }) }
    if (!Object.values(functions).every((each) => typeof each === 'function')) throw new SettingError('functions')
    if (service !== undefined && !isTopic(service)) throw new SettingError('service')
    if (typeof base !== 'string' || !/^(\/[A-Za-z0-9._~-]+)*$/.test(base)) throw new SettingError('base')
    this.#sender = sender
    this.#topic = sender.topic
    this.#service = service
    this.senderSet = senderSet
    this.#base = base
    this.#functions = functions
    this.#clock = clock
    this.#report = report
    this.#requests = new RateLimiter(60, 1, clock)
    this.#tests = new RateLimiter(5, 720, clock)
  }

  // Functions without `this`, so that they can be passed on.
  fetch = (request, context) => this.#respond(request, context)
  middleware = (request, response, next) => serve(this.fetch, (path) => this.#limit(path), request, response, next)

  get sender() {
    return this.#sender
  }

  set sender(sender) {
    if (sender !== undefined && !isSender(sender)) throw new SettingError('sender')
    if (sender !== undefined && sender.topic !== this.#topic) throw new SettingError('other-topic')
    this.#sender = sender
  }

  get senderSet() {
    return this.#senderSet
  }

  set senderSet(text) {
    if (text !== undefined) readRecord(SENDERS, text)
    this.#senderSet = text
  }

  /** Returns the number of bytes that a request to this path may have, or undefined if there is no such path. */
  #limit(path) {
    const route = this.#route(path)
    return route && (route.name === 'leavings' ? MOST_LEAVING_BYTES : MOST_BYTES)
  }

  #route(path) {
    const groups = path.startsWith(this.#base) ? PATH.exec(path.slice(this.#base.length))?.groups : undefined
    if (groups === undefined) return undefined
    const name = groups.name ?? `phones${groups.part ?? ''}`
    return name === 'phones/test' && this.#functions.test === undefined ? undefined : { name, key: groups.key }
  }

  /** Never rejects. */
  async #respond(request, context) {
    let response
    try {
      response = await this.#answer(request, context)
    } catch (error) {
      if (!(error instanceof Problem)) this.#tell('a request', error)
      // A mistake in the application. The error's text is this package's own, so the developer may see it in both places.
      const detail = error instanceof SettingError ? error.message : 'the request failed'
      response = (error instanceof Problem ? error : unavailable(detail)).response()
    }
    const { status, headers } = response
    return request.method === 'HEAD' ? new Response(null, { status, headers }) : response
  }

  async #answer(request, context) {
    const { method } = request
    if (!METHODS.includes(method)) throw new Problem(501, 'unknown-method', 'no path supports this method')
    const route = this.#route(new URL(request.url).pathname)
    if (route === undefined) throw new Problem(404, 'no-such-path', 'there is nothing at this path')
    const methods = ROUTES[route.name]
    if (!Object.hasOwn(methods, method)) {
      const allow = Object.keys(methods).sort().join(', ')
      throw new Problem(405, 'wrong-method', "this path doesn't support this method", { hint: `Use ${allow}.`, headers: { allow } })
    }
    const exchange = new Exchange(this.#tools(), request)
    if (route.name !== 'leavings') await exchange.logIn(context)
    if (route.key !== undefined) exchange.readEnrollment(route.key)
    return methods[method](exchange)
  }

  /** What one exchange needs. */
  #tools() {
    return {
      topic: this.#topic, service: this.#service, senderSet: this.#senderSet, requests: this.#requests, tests: this.#tests,
      now: () => seconds(Math.floor(this.#clock())),
      milliseconds: () => Math.floor(this.#clock() * 1000),
      tell: (what, error) => this.#tell(what, error),
      // Without the sender, the service can't do its work.
      sender: () => {
        if (this.#sender === undefined) throw noSender()
        return this.#sender
      },
      ask: async (name, ...values) => {
        try {
          return await this.#functions[name](...values)
        } catch (error) {
          this.#tell(`the function \`${name}\``, error)
          throw unavailable('a database is unavailable')
        }
      },
    }
  }

  #tell(what, error) {
    try {
      this.#report(what, error)
    } catch {}
  }

  [inspect.custom]() {
    return `PhoneRouter(${this.#topic})`
  }
}

/** One request. It reads what is stored, decides, and saves; if another request came first, it begins again. */
class Exchange {
  #tools
  #request
  #account
  #enrollment

  constructor(tools, request) {
    this.#tools = tools
    this.#request = request
  }

  async logIn(context) {
    this.#tools.sender()
    const account = await this.#tools.ask('account', this.#request, context)
    if (account === undefined || account === null) {
      const given = { hint: 'Log in again.', headers: { 'www-authenticate': 'Bearer' } }
      throw new Problem(401, 'unauthorized', 'the request has no valid token', given)
    }
    // An empty name, or a number that JavaScript has rounded, could be several accounts.
    if (typeof account !== 'string' || account === '') throw new SettingError('account')
    if (!this.#tools.requests.take(account)) throw tooMany('too many requests by this user', 10)
    this.#account = account
  }

  readEnrollment(key) {
    try {
      this.#enrollment = encode(ENROLLMENT, decode(ENROLLMENT, decodeURIComponent(key)))
    } catch {
      throw malformed('no enrollment key in the path; expected `pushenrollment1…`')
    }
  }

  /** EnrollmentHTTP 3. */
  async register() {
    const body = await members(this.#request, MOST_BYTES, 'record', 'token', 'environment')
    const [record, token, environment] = ['record', 'token', 'environment'].map((name) => required(body, name))
    if (!/^([0-9A-Fa-f]{2}){1,100}$/.test(token)) {
      throw malformed('"token" is invalid; expected 2 to 200 hexadecimal digits, and an even number of them')
    }
    if (!['production', 'sandbox'].includes(environment)) throw malformed('"environment" is invalid; expected production or sandbox')
    const read = refusing(() => readRecord(DEVICE, record))
    if (encode(ENROLLMENT, read.signer) !== this.#enrollment) throw malformed('the record is not signed by the key in the path')
    const { topic } = this.#tools
    if (read.topic !== topic) throw Problem.of(new RecordError('other-topic'))
    const [sender, now] = [this.#tools.sender(), this.#tools.now()]

    const { problem, challenges } = await this.#change((found) => {
      const { own, others } = this.#split(found)
      let device, problem
      if (own === undefined) {
        device = refusing(() => Device.enroll(record, { topic, now }))
        if (found.others >= MOST_DEVICES) {
          const hint = 'Unregister a device that is no longer used.'
          throw new Problem(409, 'too-many-devices', `the account has ${MOST_DEVICES} devices`, { hint })
        }
      } else {
        device = this.#device(own)
        try {
          device.update(record, { now })
        } catch (error) {
          if (!(error instanceof RecordError)) throw error
          // The token is stored anyway (3.2).
          problem = Problem.of(error, ['rolled-back', 'conflicting'].includes(error.code) ? { record: device.record } : {})
        }
      }
      requireUnclaimed(others)
      const asked = problem ? [] : device.unproven
      const challenges = asked.map((recipient) => {
        const challenge = device.challenge(sender, { recipient, now })
        return { challenge, state: nameOf(device.toJSON().challenges.at(-1)) }
      })
      const entry = { account: this.#account, state: device.toJSON(), token, environment, registeredMilliseconds: this.#tools.milliseconds() }
      return { entries: claimed(entry, others), result: { problem, challenges } }
    })
    if (problem) throw problem
    return answered(200, { device: this.#enrollment, challenges })
  }

  /** EnrollmentHTTP 4. `state` tells which challenge is answered, so that a wrong answer differs from a late one. */
  async answer() {
    const body = await members(this.#request, MOST_BYTES, 'answer', 'state')
    const [answer, state] = [required(body, 'answer'), required(body, 'state')]
    if (state.length > LONGEST_STATE) throw malformed(`"state" is invalid; expected at most ${LONGEST_STATE} characters`)
    await this.#change((found) => {
      const { own, others } = this.#known(found)
      const device = this.#device(own)
      const before = device.proven.length
      const isKnown = device.toJSON().challenges.some((each) => nameOf(each) === state)
      try {
        device.answer(answer, { now: this.#tools.now() })
      } catch (error) {
        if (!(error instanceof SealedPushError)) throw error
        if (error.code !== 'wrong-answer' || isKnown) throw Problem.of(error)
        const hint = 'Submit the record again; the response has a new challenge.'
        throw new Problem(409, 'unknown-challenge', 'this server did not issue this challenge, or not recently', { hint })
      }
      requireUnclaimed(others)
      // The same answer again changes nothing.
      return device.proven.length === before ? {} : { entries: claimed({ ...own, state: device.toJSON() }, others) }
    })
    return answered(204)
  }

  /** EnrollmentHTTP 6, within the login. */
  async unregister() {
    await this.#change((found) => {
      const { own, others } = this.#split(found)
      return own === undefined ? {} : { entries: others }
    })
    return answered(204)
  }

  /** EnrollmentHTTP 6, with a signature. */
  async leave() {
    const body = await members(this.#request, MOST_LEAVING_BYTES, 'leaving')
    const { topic, service } = this.#tools
    const leaving = refusing(() => new Leaving(required(body, 'leaving'), { topic, service }))
    this.#enrollment = leaving.enrollment
    await this.#change((found) => {
      const entries = found.entries.filter((each) => !leaving.ends(this.#device(each)))
      return entries.length === found.entries.length ? {} : { entries }
    })
    return answered(204)
  }

  /** EnrollmentHTTP 5. */
  senderSet() {
    const { senderSet } = this.#tools
    return senderSet === undefined ? answered(204) : answered(200, { senderSet })
  }

  /** EnrollmentHTTP 9. */
  async test() {
    if (!this.#tools.tests.take(this.#account)) throw tooMany('an account may send five tests an hour', 720)
    const { own } = this.#known(await this.#find())
    const [id, now] = [randomUUID(), this.#tools.now()]
    let reason
    try {
      const push = this.#tools.sender().seal({ ...TEST, id, expires: now + 3600 }, this.#device(own), { now })
      reason = own.token === null ? 'no-token' : await this.#tools.ask('test', own, push)
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      reason = SKIPPED[error.code] ?? error.code
    }
    const isSkipped = typeof reason === 'string' && reason !== ''
    return answered(202, { id, enqueued: isSkipped ? 0 : 1, alreadyEnqueued: 0, skipped: isSkipped ? { [reason]: 1 } : {} })
  }

  async #find() {
    const found = await this.#tools.ask('load', this.#enrollment, this.#account)
    if (!Array.isArray(found?.entries) || !Number.isInteger(found.others)) throw new SettingError('load')
    return found
  }

  /** Saves the entries that `decide` returns, unless there are none, and returns its result. */
  async #change(decide) {
    for (let left = MOST_TRIES; left > 0; left -= 1) {
      const found = await this.#find()
      const { entries, result } = decide(found)
      if (entries === undefined) return result
      const isSaved = await this.#tools.ask('save', this.#enrollment, this.#account, found, entries)
      if (typeof isSaved !== 'boolean') throw new SettingError('save')
      if (isSaved) return result
    }
    throw unavailable('too many requests for this device at once', 2)
  }

  /** Returns the account's own entry, and those of other accounts. */
  #split({ entries }) {
    const own = entries.find(({ account }) => account === this.#account)
    return { own, others: entries.filter((each) => each !== own) }
  }

  #known(found) {
    const { own, others } = this.#split(found)
    if (own !== undefined) return { own, others }
    throw new Problem(404, 'unknown-device', 'no such device is registered', { hint: "Submit the device's record." })
  }

  /** Loads a stored device. If that fails, the phone isn't to blame. */
  #device({ state }) {
    try {
      return Device.fromJSON(state)
    } catch (error) {
      this.#tools.tell('a stored device', error)
      throw unavailable("the device's stored state can't be used")
    }
  }
}

const ROUTES = {
  phones: { PUT: (exchange) => exchange.register(), DELETE: (exchange) => exchange.unregister() },
  'phones/answers': { POST: (exchange) => exchange.answer() },
  'phones/test': { POST: (exchange) => exchange.test() },
  'sender-set': { GET: (exchange) => exchange.senderSet(), HEAD: (exchange) => exchange.senderSet() },
  leavings: { POST: (exchange) => exchange.leave() },
}

/** Turns an error about what a phone sent into a refusal. */
function refusing(call) {
  try {
    return call()
  } catch (error) {
    throw error instanceof SealedPushError ? Problem.of(error) : error
  }
}

/** Returns the name of a stored challenge. It begins the hash of a random answer, so it tells nothing about it. */
const nameOf = ({ hash }) => hash.slice(0, 16)

/** Refuses a device that another account has proven (Specification 11.5.8). */
function requireUnclaimed(others) {
  if (!others.some(isProven)) return
  const hint = 'Unregister it there, or remove that device.'
  throw new Problem(409, 'enrolled-elsewhere', 'another account has this device and has proven one of its keys', { hint })
}

/** Returns the enrollment key's entries. Once the device is proven here, others' claims to it are dropped. */
const claimed = (entry, others) => (isProven(entry) ? [entry] : [...others, entry])

/** Tells an operator where an error happened, but not its text, which may contain a row, unless it is a SettingError's. */
function log(what, error) {
  const why = error instanceof SettingError ? `: ${error.message}` : ''
  const frames = String(error?.stack ?? '').split('\n').filter((line) => /^ +at /.test(line))
  console.error([`sealed-push: ${what} failed with ${error?.name}${why}`, ...frames].join('\n'))
}

/** Returns the token in the `Authorization` header, or undefined. */
export function bearerToken({ headers }) {
  const value = (typeof headers.get === 'function' ? headers.get('authorization') : headers.authorization) ?? ''
  if (byteCount(value) > 512) return undefined
  return /^bearer +([!-~]+) *$/i.exec(value)?.[1]
}
