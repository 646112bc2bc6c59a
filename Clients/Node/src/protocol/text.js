// Base64url and JSON, as strict as the Specification (2.4, 2.5, 4.4), and checks of arguments.

import { SettingError } from '../errors.js'

export const LATEST = 253402300799
export const isTopic = (text) => typeof text === 'string' && /^[A-Za-z0-9.-]{1,155}$/.test(text)
export const isSeconds = (value) => Number.isInteger(value) && value >= 0 && value <= LATEST
/** Whether a text has a form in UTF-8, because it has no unpaired surrogates. */
export const isUnicode = (text) => !/\p{Surrogate}/u.test(text)
export const byteCount = (text) => Buffer.byteLength(text, 'utf8')
export const toJSON = (value) => Buffer.from(JSON.stringify(value), 'utf8')
export const encodeBase64 = (bytes) => Buffer.from(bytes).toString('base64url')

/** Returns the bytes of 1 to `longest` characters, under the strict rules of 2.5, or null. */
export function decodeBase64(text, longest = 4096) {
  if (typeof text !== 'string' || text.length > longest || !/^[A-Za-z0-9_-]+$/.test(text) || text.length % 4 === 1) return null
  const bytes = Buffer.from(text, 'base64url')
  return encodeBase64(bytes) === text ? bytes : null
}

export const armor = (prefix, bytes) => prefix + encodeBase64(bytes)

/** Returns a text's bytes, or null unless there are `least` to `most` of them (11.1.4, 11.5). */
export function unarmor(prefix, text, least, most) {
  if (typeof text !== 'string' || !text.startsWith(prefix)) return null
  const bytes = decodeBase64(text.slice(prefix.length), Math.ceil((most * 4) / 3))
  return bytes !== null && bytes.length >= least && bytes.length <= most ? bytes : null
}

/** Returns a call's options after checking their names, or an empty object for undefined. */
export function options(value, ...names) {
  if (value === undefined) return {}
  if (typeof value !== 'object' || value === null) throw new SettingError('options')
  if (!Object.keys(value).every((name) => names.includes(name))) throw new SettingError('options')
  return value
}

/** Returns Unix seconds, or the current time for undefined. */
export function seconds(now) {
  if (now === undefined) return Math.floor(Date.now() / 1000)
  if (!isSeconds(now)) throw new SettingError('now')
  return now
}
