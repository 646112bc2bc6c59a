// Refusals as in RFC 9457 (EnrollmentHTTP 7), with the codes and bodies of `sealedpush serve`.

const TITLES = {
  400: 'Bad Request', 401: 'Unauthorized', 404: 'Not Found', 405: 'Method Not Allowed', 409: 'Conflict', 413: 'Content Too Large',
  415: 'Unsupported Media Type', 422: 'Unprocessable Content', 429: 'Too Many Requests', 501: 'Not Implemented',
  503: 'Service Unavailable',
}
const CONFLICTS = ['other-topic', 'other-service', 'rolled-back', 'conflicting', 'late', 'unknown-challenge', 'not-in-record', 'wrong-answer']
const UNPROCESSABLE = ['expired', 'not-yet-valid', 'unsupported']
const LATER = 'The request had no effect. Try again after the time in Retry-After.'

/** Why a request is refused. `members` are added to its JSON. */
export class Problem extends Error {
  constructor(status, code, detail, { hint, headers = {}, members = {} } = {}) {
    super(code)
    Object.assign(this, { status, code, detail, hint, headers, members })
  }

  /** Returns the refusal of a record, a leaving, or an answer. */
  static of({ code, message, hint }, members) {
    const status = CONFLICTS.includes(code) ? 409 : UNPROCESSABLE.includes(code) ? 422 : 400
    return new Problem(status, code, message, { hint, members })
  }

  response() {
    const { status, code, detail, hint, members } = this
    const body = { type: `/Docs/Codes.md#${code}`, title: TITLES[status], status, code, detail, ...(hint && { hint }), ...members }
    return answered(status, body, { ...this.headers, 'content-type': 'application/problem+json' })
  }
}

export const malformed = (detail) => new Problem(400, 'malformed', detail)

export const unavailable = (detail, seconds = 10) =>
  new Problem(503, 'unavailable', detail, { hint: LATER, headers: { 'retry-after': String(seconds) } })

export const noSender = () =>
  new Problem(503, 'no-sender', 'the server has no key to seal with', { hint: LATER, headers: { 'retry-after': '60' } })

export const tooMany = (detail, seconds) =>
  new Problem(429, 'too-many-requests', detail, { headers: { 'retry-after': String(seconds) } })

/** Returns a response with this JSON, or without a body. */
export function answered(status, body, headers) {
  const all = { 'cache-control': 'no-store', ...(body && { 'content-type': 'application/json' }), ...headers }
  return new Response(body && JSON.stringify(body), { status, headers: all })
}
