// The content of a message: its rules, its JSON, and its padding (Specification, section 4; ContentParts, section 15).

import { ContentError, MOMENT, SealedPushError, TooLargeError } from '../errors.js'
import { areAttachments, isFileURL, isOverflow } from './files.js'
import { readRequest } from './receipts.js'
import { byteCount, decodeBase64, isSeconds, isTopic, isUnicode, toJSON } from './text.js'
import { isVisible } from './visible.js'

export const PADDINGS = ['buckets', 'full', 'none']
const DEEPEST = 16
const LONGEST_NAME = 256
const WRONG = 'has the wrong type or is out of range'
const ALERT = 'must be an object with at least one visible text, such as { title: "Nina", body: "Lunch at one?" }'
const WITHDRAW = 'must name a "message", a "thread", or both'
const BESIDE = 'has no effect in a withdrawal; leave it out'
const PAST = `is in the past; give ${MOMENT}`
const ADDRESS = 'must be an https URL with a lowercase host, and without a user, password, or fragment'
const NO_TIME = `is not a time; give ${MOMENT}`
const LONG_NAME = 'contains a name larger than 256 bytes'
// The reasons of members that break their rules; the others have `WRONG`.
const REASONS = { alert: ALERT, withdraw: WITHDRAW, sent: NO_TIME, expires: NO_TIME }
const SHOWN = /^[A-Za-z_][A-Za-z0-9_-]{0,31}$/
const DISCLOSURES = ['full', 'sender', 'generic']
const LEVELS = ['passive', 'active', 'time-sensitive', 'critical']
const MESSAGE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const COLOR = /^#[0-9a-fA-F]{6}$/

/** Returns the content, 0x80, and zeros (4.1, 4.2). `largest` is P of 5.3. */
export function pad(content, policy, largest, isHybrid = false) {
  const needed = content.length + 1
  if (needed > largest) throw new TooLargeError(needed - largest)
  const bucket = [256, 512, 1024, isHybrid ? 1792 : 2048].find((size) => needed <= size && size <= largest) ?? largest
  const plaintext = Buffer.alloc({ none: needed, full: largest, buckets: bucket }[policy])
  content.copy(plaintext)
  plaintext[content.length] = 0x80
  return plaintext
}

/** Returns a copy that no getter or other code can change. Throws a ContentError for values that JSON can't represent. */
export function plain(value) {
  try {
    return copied(value, DEEPEST, '')
  } catch (error) {
    // An error from a getter or a proxy may contain anything.
    throw error instanceof SealedPushError ? error : new ContentError("contains a value that can't be read")
  }
}

/** Returns a copy of content, made by `plain`. */
export function plainObject(value) {
  const made = plain(value)
  check(isObject(made), "isn't a JSON object")
  return made
}

/**
 * Returns the JSON of content that a sender may emit: what a receiver accepts (4.4 to 4.8), with the limits of 4.5, 15.3, and 17.1.
 * Also refuses obvious mistakes: a null, or a time of expiration in the past. `content` is plain.
 */
export function forSealing(content, topic, now) {
  checkNulls(content, 'content', '')
  for (const name of ['id', 'topic', 'sent', ...('withdraw' in content ? [] : ['alert'])]) check(name in content, 'is missing', name)
  for (const [name, value] of isObject(content.withdraw) ? Object.entries(content.withdraw) : []) {
    check(Object.hasOwn(WITHDRAW_RULES, name), BESIDE, `withdraw.${name}`)
    check(WITHDRAW_RULES[name](value), WRONG, `withdraw.${name}`)
  }
  for (const [member, entry] of filesOf(content)) check(isFileURL(entry.url), ADDRESS, `${member}.url`)
  for (const [name, rule] of Object.entries(RULES)) {
    check(!(name in content) || rule(content[name]), REASONS[name] ?? WRONG, name)
  }
  for (const [key, keyArguments] of isObject(content.alert) ? TRANSLATIONS : []) {
    const { alert } = content
    check(!(key in alert) || (isShort(alert[key], 256) && alert[key] !== ''), WRONG, `alert.${key}`)
    check(!(keyArguments in alert) || (key in alert && areArguments(alert[keyArguments])), WRONG, `alert.${keyArguments}`)
  }
  const beside = 'withdraw' in content ? NAMES.content.filter((name) => name in content && !isEmptyArray(content[name])) : []
  for (const name of beside) check(WITHDRAWAL.includes(name), BESIDE, name)
  check(!('badge' in content && 'badge-add' in content), WRONG, 'badge-add')
  const pictures = (content.attachments ?? []).filter(({ type }) => ['image/png', 'image/jpeg'].includes(type))
  for (const name of ['person', 'group']) {
    const image = content[name]?.image
    check(image === undefined || pictures.some(({ id }) => id === image), WRONG, `${name}.image`)
  }
  check(!('group' in content) || 'person' in content, WRONG, 'group')
  check(content.topic === topic, WRONG, 'topic')
  check(!(content.expires < now), PAST, 'expires')
  return toJSON(content)
}

/** Returns the entries of files, with their paths. */
function filesOf({ attachments, overflow }) {
  const listed = Array.isArray(attachments) ? attachments.map((entry, index) => [`attachments[${index}]`, entry]) : []
  return [...listed, ['overflow', overflow]].filter(([, entry]) => isObject(entry))
}

/** Parses and checks content as a receiver does (4.4 to 4.8). Throws a SyntaxError or ContentError for anything else. */
export function parse(text) {
  check(byteCount(text) <= 4096, 'is larger than 4,096 bytes')
  const content = JSON.parse(text, (name, value) => {
    check(isUnicode(name) && !(isText(value) && !isUnicode(value)), 'contains an unpaired surrogate')
    check(typeof value !== 'number' || Number.isFinite(value), 'contains a number that is too large')
    return value
  })
  check(isObject(content), "isn't a JSON object")
  checkNesting(text)
  const isWithdrawal = isWithdrawing(content)
  for (const name of ['id', 'topic', 'sent', ...(isWithdrawal ? [] : ['alert'])]) check(Object.hasOwn(content, name), 'is missing', name)
  for (const name of STRICT) {
    const isSkipped = !Object.hasOwn(content, name) || (name === 'alert' && isWithdrawal)
    check(isSkipped || RULES[name](content[name]), WRONG, name)
  }
  return content
}

/** Checks the depth and names of valid JSON. For a repeated name, JSON.parse keeps only the last value. */
export function checkNesting(text) {
  const nested = []
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"(?:[ \t\n\r]*:)?|[{}[\]]/g)) {
    if (token === '{' || token === '[') nested.push(new Set())
    else if (token === '}' || token === ']') nested.pop()
    else if (token.endsWith(':')) {
      const name = JSON.parse(token.slice(0, -1))
      check(byteCount(name) <= LONGEST_NAME, LONG_NAME)
      check(!nested.at(-1).has(name), 'contains the same name twice in one object')
      nested.at(-1).add(name)
    }
    check(nested.length <= DEEPEST, 'is nested more than 16 levels deep')
  }
}

/** Whether a receiver treats content as a withdrawal (21.1). */
export function isWithdrawing({ withdraw }) {
  return isWithdrawal(withdraw) && Object.entries(WITHDRAW_RULES).every(([name, rule]) => !(name in withdraw) || rule(withdraw[name]))
}

/** Throws an error that names a member that must not be null (4.8). */
function checkNulls(value, kind, path) {
  if (Array.isArray(value)) value.forEach((each, index) => checkNulls(each, kind, `${path}[${index}]`))
  if (!isObject(value)) return
  for (const name of NAMES[kind]) {
    const member = path === '' ? name : `${path}.${name}`
    check(value[name] !== null, 'is null; leave it out', member)
    if (Object.hasOwn(NAMES, name)) checkNulls(value[name], name, member)
  }
}

/** Returns the paths of unknown members that look misspelled (4.10). `content` is plain. */
export function suspects(content) {
  const among = (value, kind) => Object.keys(isObject(value) ? value : {}).filter((name) => isSuspect(name, NAMES[kind]))
  return [...among(content, 'content'), ...among(content.alert, 'alert').map((name) => `alert.${name}`)]
}

function isSuspect(name, known) {
  if (known.includes(name) || byteCount(name) > 64) return false
  const letters = folded(name)
  return known.map(folded).some((key) => letters === key || (key.length >= 4 && isOneEdit(letters, key)))
}

/** Returns the name's bytes as characters, without hyphens and underscores, and with ASCII in lowercase. */
const folded = (name) => Buffer.from(name).toString('latin1').replace(/[-_]/g, '').replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** Whether one byte was added, removed, or replaced, or two neighbors were swapped. */
function isOneEdit(one, other) {
  while (one !== '' && one[0] === other[0]) [one, other] = [one.slice(1), other.slice(1)]
  while (one !== '' && one.at(-1) === other.at(-1)) [one, other] = [one.slice(0, -1), other.slice(0, -1)]
  return Math.max(one.length, other.length) === 1 || (one.length === 2 && one === other[1] + other[0])
}

function copied(value, levels, path) {
  switch (typeof value) {
    case 'string':
      check(isUnicode(value), 'contains an unpaired surrogate', path)
      return value
    case 'number':
      check(Number.isFinite(value), 'is not a number that JSON can represent', path)
      // JSON.stringify writes numbers below 1e21 as integers, with zeros for lost digits.
      check(!isRounded(value), 'is an integer that JavaScript has rounded; write it as text', path)
      return value
    case 'boolean':
      return value
    case 'object':
      break
    default:
      return check(false, value === undefined ? 'is undefined; use null' : `is a ${typeof value}; write it as text`, path)
  }
  if (value === null) return null
  check(levels > 0, 'is nested more than 16 levels deep', path)
  if (Array.isArray(value)) return Array.from(value, (each, index) => copied(each, levels - 1, `${path}[${index}]`))
  const prototype = Object.getPrototypeOf(value)
  // Refuse a Date, a Buffer, a Map, and objects of the app's own classes.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    const { name } = value.constructor ?? {}
    check(false, `is a ${SHOWN.test(name) ? name : 'special object'}; write it as text`, path)
  }
  const made = Object.create(null)
  for (const [name, each] of Object.entries(value)) {
    if (each === undefined) continue
    check(isUnicode(name), 'contains an unpaired surrogate in a name', path)
    check(byteCount(name) <= LONGEST_NAME, LONG_NAME, path)
    made[name] = copied(each, levels - 1, pathOf(path, name))
  }
  return made
}

/** Returns the path of a member. A name that may be data, not one of the app's own, isn't shown. */
function pathOf(path, name) {
  const step = SHOWN.test(name) ? name : '…'
  return path === '' ? step : `${path}.${step}`
}

const isRounded = (number) => Number.isInteger(number) && !Number.isSafeInteger(number) && Math.abs(number) < 1e21

function check(condition, why, member) {
  if (!condition) throw new ContentError(why, member === '' ? undefined : member)
}

const isText = (value) => typeof value === 'string'
const isShort = (value, longest) => isText(value) && byteCount(value) <= longest
const isNumber = (value, least = -Number.MAX_VALUE, most = Number.MAX_VALUE) =>
  typeof value === 'number' && value >= least && value <= most
const isEmptyArray = (value) => Array.isArray(value) && value.length === 0
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

function isAlert(value) {
  if (!isObject(value)) return false
  const texts = ['title', 'subtitle', 'body'].filter((name) => name in value).map((name) => value[name])
  return texts.every(isText) && texts.some(isVisible)
}

/** Whether a value has the arguments of a translation (17.3). */
const areArguments = (value) => Array.isArray(value) && value.length <= 16 && value.every(isText)

function isSound(value) {
  if (!isObject(value)) return isText(value) && value !== ''
  const { critical = 0, name = 'default', volume = 1 } = value
  return (critical === 0 || critical === 1) && isNumber(volume, 0, 1) && isText(name) && name !== ''
}

/** Whether a value is a chart (15.1). */
export function isChart(value) {
  if (!isObject(value)) return false
  const { kind, points, labels = [], prefix = '', suffix = '', color = 'accent', axes = true } = value
  return (
    ['line', 'area', 'bar', 'sparkline'].includes(kind) &&
    Array.isArray(points) &&
    points.length <= 1024 &&
    points.every((point) => point === null || isNumber(point)) &&
    points.some((point) => point !== null) &&
    Array.isArray(labels) &&
    labels.length <= 16 &&
    labels.every((label) => isShort(label, 48)) &&
    isShort(prefix, 16) &&
    isShort(suffix, 16) &&
    isText(color) &&
    (['accent', 'trend'].includes(color) || COLOR.test(color)) &&
    typeof axes === 'boolean'
  )
}

/** Whether a value is a person (19.1). The caller checks that the picture is among the attachments. */
const isPerson = (value) => isMember(value) && hasPicture(value)

const isMember = (value) => isObject(value) && isName(value.name) && isLabel(value.id)
const isLabel = (value) => isShort(value, 128) && value !== ''
const isName = (value) => isLabel(value) && isVisible(value)

/** Whether the picture of a person or group follows its rules, or is absent. */
function hasPicture(value) {
  const { image = 'x', 'image-data': data = 'AA' } = value
  const bytes = decodeBase64(data)
  return !('image' in value && 'image-data' in value) && isLabel(image) && bytes !== null && bytes.length <= 2048
}

/** Whether a value is a group (19.4). The caller checks that the picture is among the attachments, and that there is a person. */
function isGroup(value) {
  if (!isObject(value) || !isName(value.name) || !hasPicture(value)) return false
  const { recipients = [], count = 2 } = value
  const isList = Array.isArray(recipients) && recipients.length <= 16
  return isList && recipients.every(isMember) && Number.isInteger(count) && isNumber(count, 2, 100000)
}

// 21.1
const WITHDRAW_RULES = {
  message: (value) => isText(value) && MESSAGE_ID.test(value),
  thread: (value) => isText(value) && value !== '',
  filtered: (value) => typeof value === 'boolean',
}

const isWithdrawal = (value) => isObject(value) && ('message' in value || 'thread' in value)

/** The members that a withdrawal may have (21.2). */
const WITHDRAWAL = ['id', 'topic', 'sent', 'expires', 'collapse-id', 'badge', 'data', 'withdraw']

/** Whether content that may be sealed is sent in a background push (21.3). */
export const isBackground = (content) => 'withdraw' in content && content.withdraw.filtered !== true

const RULES = {
  id: (value) => isText(value) && MESSAGE_ID.test(value),
  topic: isTopic,
  sent: isSeconds,
  expires: isSeconds,
  'collapse-id': (value) => isShort(value, 64) && value !== '',
  alert: isAlert,
  badge: (value) => Number.isInteger(value) && isNumber(value, 0, 2147483647),
  'badge-add': (value) => Number.isInteger(value) && isNumber(value, 1, 99),
  sound: isSound,
  'thread-id': isText,
  category: isText,
  'interruption-level': (value) => LEVELS.includes(value),
  'relevance-score': (value) => isNumber(value, 0, 1),
  'filter-criteria': isText,
  'target-content-id': isText,
  data: (value) => value !== null,
  chart: isChart,
  person: isPerson,
  group: isGroup,
  template: (value) => value === true,
  disclosure: (value) => DISCLOSURES.includes(value),
  withdraw: isWithdrawal,
  attachments: areAttachments,
  overflow: isOverflow,
  receipt: (value) => readRequest(value) !== null,
}

/** The members whose rules make a receiver refuse the content (4.8). */
const STRICT = [
  'id', 'topic', 'sent', 'expires', 'collapse-id', 'alert', 'badge', 'sound', 'thread-id', 'category', 'interruption-level',
  'relevance-score', 'filter-criteria', 'target-content-id', 'data',
]

/** The keys of an alert's translations, each with its arguments (17.3). A receiver ignores those that break their rules. */
const TRANSLATIONS = ['title-', 'subtitle-', ''].map((text) => [`${text}loc-key`, `${text}loc-args`])

const FILE = ['url', 'size', 'hash', 'key', 'plain']

/** The members of content and of its objects. */
export const NAMES = {
  content: Object.keys(RULES),
  alert: ['title', 'subtitle', 'body', ...TRANSLATIONS.flat()],
  sound: ['critical', 'name', 'volume'],
  chart: ['kind', 'points', 'labels', 'prefix', 'suffix', 'color', 'axes'],
  person: ['name', 'id', 'image', 'image-data'],
  group: ['name', 'image', 'image-data', 'recipients', 'count'],
  recipients: ['name', 'id'],
  attachments: [...FILE, 'id', 'type', 'thumbnail'],
  thumbnail: ['hidden', 'clip', 'time'],
  overflow: FILE,
  receipt: ['url', 'id', 'key'],
  withdraw: Object.keys(WITHDRAW_RULES),
}
