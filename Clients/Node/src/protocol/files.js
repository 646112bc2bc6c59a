// Encrypted files and their entries in the content (ContentParts, section 14).

import { FileError } from '../errors.js'
import { Blake2b } from './blake2b.js'
import { ADDED, FINAL, HEADER, MESSAGE, SecretStream } from './secretstream.js'
import { byteCount, decodeBase64, isUnicode } from './text.js'
import { isURL } from './urls.js'

export const CHUNK = 65536
export const LARGEST = 2 ** 40
/** The number of a file's first bytes that show its type. */
export const SIGNATURE = 12
const [LARGEST_OVERFLOW, MOST_ATTACHMENTS, LONGEST_URL] = [65536, 16, 2048]
const [AUDIO, IMAGE, VIDEO] = [5_000_000, 10_000_000, 50_000_000]

const text = (start, from, to) => start.toString('latin1', from, to)
const riff = (kind) => (start) => text(start, 0, 4) === 'RIFF' && text(start, 8, 12) === kind
const mpeg = (start) => ['\0\0\x01\xba', '\0\0\x01\xb3'].includes(text(start, 0, 4))
// HEIC and AVIF, which iOS doesn't show in notifications.
const PICTURES = 'heic heix heim heis hevc hevx hevm hevs mif1 mif2 msf1 avif avis avci avcs'.split(' ')
const mp4 = (start) => text(start, 4, 8) === 'ftyp' && start.length >= 12 && !PICTURES.includes(text(start, 8, 12))

/** 14.4: the largest size, a check of the first bytes, and the usual file name extensions. */
export const TYPES = {
  'audio/aiff': [AUDIO, (start) => text(start, 0, 4) === 'FORM' && ['AIFF', 'AIFC'].includes(text(start, 8, 12)), ['.aiff', '.aif']],
  'audio/wav': [AUDIO, riff('WAVE'), ['.wav', '.wave']],
  'audio/mpeg': [AUDIO, (start) => text(start, 0, 3) === 'ID3' || (start[0] === 0xff && (start[1] & 0xe6) === 0xe2), ['.mp3']],
  'audio/mp4': [AUDIO, mp4, ['.m4a']],
  'image/jpeg': [IMAGE, (start) => text(start, 0, 3) === '\xff\xd8\xff', ['.jpg', '.jpeg', '.jpe']],
  'image/gif': [IMAGE, (start) => ['GIF87a', 'GIF89a'].includes(text(start, 0, 6)), ['.gif']],
  'image/png': [IMAGE, (start) => text(start, 0, 8) === '\x89PNG\r\n\x1a\n', ['.png']],
  'video/mpeg': [VIDEO, mpeg, ['.mpg', '.mpeg']],
  'video/mpeg2': [VIDEO, mpeg, ['.m2v']],
  'video/mp4': [VIDEO, (start) => mp4(start) && !['M4A ', 'M4B '].includes(text(start, 8, 12)), ['.mp4']],
  'video/x-msvideo': [VIDEO, riff('AVI '), ['.avi']],
}

const isType = (type) => typeof type === 'string' && Object.hasOwn(TYPES, type)

/** Returns the type for a file's name. */
export function typeOfName(name) {
  const end = /\.[^./\\]*$/.exec(name)?.[0].toLowerCase()
  return Object.keys(TYPES).find((type) => TYPES[type][2].includes(end))
}

// Entries (14.1)

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)
export const isFileURL = (url) => isURL(url, LONGEST_URL)

/** Whether this is an object with `url`, `size`, `hash`, and `key` or `plain`. */
export const isFile = (value) =>
  isObject(value) && isFileURL(value.url) && plaintextLength(value) !== null && decodeBase64(value.hash)?.length === 32

/** Returns the length of the file itself, or null if the stored size is impossible or `key` and `plain` break the rules. */
function plaintextLength(value) {
  const { size, plain = false } = value
  if (!Number.isInteger(size) || size < 1 || size > LARGEST || typeof plain !== 'boolean') return null
  if (plain) return 'key' in value ? null : size
  if (decodeBase64(value.key)?.length !== 32) return null
  const [chunks, last] = [Math.floor((size - HEADER) / (CHUNK + ADDED)), (size - HEADER) % (CHUNK + ADDED)]
  if (size < HEADER || (last === 0 && chunks === 0) || (last > 0 && last < ADDED)) return null
  // Only an empty file has an empty last chunk.
  return last === ADDED && chunks > 0 ? null : chunks * CHUNK + Math.max(0, last - ADDED)
}

/** Whether this can be an element of `attachments` (14.1, 14.4). */
export function isAttachment(value) {
  if (!isFile(value) || !isType(value.type) || !isIdentifier(value.id)) return false
  const length = plaintextLength(value)
  return length >= 1 && length <= TYPES[value.type][0] && (!('thumbnail' in value) || isThumbnail(value.thumbnail))
}

/** Whether a value is content in an encrypted file (18.1). */
export function isOverflow(value) {
  const length = isFile(value) && 'key' in value ? plaintextLength(value) : 0
  return length >= 1 && length <= LARGEST_OVERFLOW
}

export const isIdentifier = (value) => typeof value === 'string' && isUnicode(value) && value !== '' && byteCount(value) <= 64

export function isThumbnail(value) {
  if (!isObject(value)) return false
  const { hidden = false, clip = [0, 0, 1, 1], time = 0 } = value
  const isNumber = (number, most) => typeof number === 'number' && number >= 0 && number <= most
  return typeof hidden === 'boolean' && Array.isArray(clip) && clip.length === 4 && clip.every((each) => isNumber(each, 1)) && isNumber(time, 86400)
}

/** Whether a sender may emit this list. */
export const areAttachments = (value) =>
  Array.isArray(value) && value.length <= MOST_ATTACHMENTS && value.every(isAttachment) && new Set(value.map(({ id }) => id)).size === value.length

/** Throws a FileError unless the file's first bytes are those of this type. */
export function checkStart(type, start) {
  if (!TYPES[type][1](start.subarray(0, SIGNATURE))) throw new FileError('wrong-type')
}

export function checkType(type) {
  if (!isType(type)) throw new FileError('wrong-type')
}

// Sealing and opening, chunk by chunk (14.2)

/** Yields pieces of exactly `size` bytes; the last may be shorter. */
export async function* pieces(source, size) {
  let [held, length] = [[], 0]
  for await (const read of source) {
    if (!(read instanceof Uint8Array)) throw new FileError('unreadable')
    for (let at = 0; at < read.length; ) {
      const part = read.subarray(at, at + size - length)
      held.push(part)
      length += part.length
      at += part.length
      if (length < size) continue
      yield Buffer.concat(held)
      ;[held, length] = [[], 0]
    }
  }
  if (length > 0) yield Buffer.concat(held)
}

/** Yields the stored file piece by piece. The header is random. */
export async function* sealedPieces(chunks, key, header) {
  const stream = new SecretStream(key, header)
  yield header
  let held
  for await (const chunk of chunks) {
    if (held !== undefined) yield stream.seal(held, MESSAGE)
    held = chunk
  }
  yield stream.seal(held, FINAL)
}

/** Yields the file piece by piece. Don't use any of it before the last piece. `entry` has been checked before (14.3). */
export async function* openedPieces(entry, stored) {
  const { size, plain = false } = entry
  const hash = new Blake2b(32)
  let received = 0
  async function* counted() {
    for await (const read of stored) {
      if (!(read instanceof Uint8Array)) throw new FileError('unreadable')
      received += read.length
      if (received > size) throw new FileError('too-large')
      hash.update(read)
      yield read
    }
  }
  const checkWhole = () => {
    if (received < size) throw new FileError('cut')
  }
  yield* plain ? pieces(counted(), CHUNK) : decrypted(counted(), decodeBase64(entry.key), size, checkWhole)
  checkWhole()
  if (!hash.digest().equals(decodeBase64(entry.hash))) throw new FileError('altered')
}

/** `checkWhole` is called before the last chunk, which can be opened only if it's whole. */
async function* decrypted(stored, key, size, checkWhole) {
  let [buffer, stream, opened] = [Buffer.alloc(0), undefined, HEADER]
  const opening = (sealed, tag) => {
    opened += sealed.length
    const chunk = stream.open(sealed, tag)
    if (chunk === null) throw new FileError('altered')
    return chunk
  }
  for await (const piece of pieces(stored, CHUNK)) {
    buffer = Buffer.concat([buffer, piece])
    if (stream === undefined && buffer.length >= HEADER) {
      stream = new SecretStream(key, buffer.subarray(0, HEADER))
      buffer = buffer.subarray(HEADER)
    }
    // The last chunk waits for the end of the file, in which all its bytes have arrived.
    while (stream !== undefined && buffer.length >= CHUNK + ADDED && opened + CHUNK + ADDED < size) {
      yield opening(buffer.subarray(0, CHUNK + ADDED), MESSAGE)
      buffer = buffer.subarray(CHUNK + ADDED)
    }
  }
  checkWhole()
  yield opening(buffer, FINAL)
}
