// Reads the bodies of requests, within limits and as strictly as Specification 4.4.

import { checkNesting } from '../protocol/content.js'
import { isUnicode } from '../protocol/text.js'
import { malformed, Problem } from './problem.js'

/**
 * Reads the body's JSON object, in at most this many bytes, and returns its members, which are all text. A null member counts as
 * absent; one that isn't among the known is refused. Throws a Problem.
 */
export async function members(request, limit, ...known) {
  if (mediaType(request) !== 'application/json') {
    const hint = 'Send the header Content-Type: application/json.'
    throw new Problem(415, 'wrong-media-type', "the request's body has the wrong media type", { hint })
  }
  if ((request.headers.get('content-encoding') ?? 'identity').toLowerCase() !== 'identity') {
    throw new Problem(415, 'encoded', "the request's body is compressed or otherwise encoded", {
      hint: 'Send it unencoded, without Content-Encoding.', headers: { 'accept-encoding': 'identity' },
    })
  }
  const found = parsed(await bytesOf(request, limit))
  if (!Object.keys(found).every((name) => known.includes(name))) {
    throw malformed(`the request has an unknown member; the known ones are ${known.join(', ')}`)
  }
  const names = known.filter((name) => (found[name] ?? null) !== null)
  const wrong = names.find((name) => typeof found[name] !== 'string')
  if (wrong !== undefined) throw malformed(`"${wrong}" is invalid; expected a string`)
  return Object.fromEntries(names.map((name) => [name, found[name]]))
}

/** Returns a member that must be there. */
export function required(found, name) {
  if (!Object.hasOwn(found, name)) throw malformed(`there is no "${name}"; expected a string`)
  return found[name]
}

function mediaType(request) {
  const type = request.headers.get('content-type') ?? ''
  return type.length > 256 ? '' : type.split(/[;\t ]/, 1)[0].toLowerCase()
}

async function bytesOf(request, limit) {
  const chunks = []
  let length = 0
  // Throws if other code has read the body, which isn't the phone's fault.
  const reader = request.body?.getReader()
  while (reader !== undefined) {
    let read
    try {
      read = await reader.read()
    } catch {
      throw malformed("the request's body was cut off")
    }
    if (read.done) break
    length += read.value.length
    if (length > limit) {
      reader.cancel().catch(() => {})
      throw tooLarge(limit)
    }
    chunks.push(read.value)
  }
  return Buffer.concat(chunks)
}

const tooLarge = (limit) => new Problem(413, 'body-too-large', `the request's body has more than ${limit} bytes`)

/** Reads one JSON object, in which no name occurs twice. */
function parsed(bytes) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const value = JSON.parse(text, (name, each) => {
      if (!isUnicode(name) || (typeof each === 'string' && !isUnicode(each))) throw new SyntaxError()
      if (typeof each === 'number' && !Number.isFinite(each)) throw new SyntaxError()
      return each
    })
    checkNesting(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {}
  // Thrown outside the handler, because JavaScript's own error contains the text.
  throw malformed('this is not one JSON object')
}
