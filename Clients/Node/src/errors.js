// The package's errors. Each has a stable code and suggests a fix. None contains a secret or a value of the input.

export const MOMENT = 'whole seconds since 1970, not milliseconds or a lifetime'

const NEWEST = 'send the device the stored record, so that it signs one with a higher counter'
const MLKEM = 'run Node 24.7 or later, with OpenSSL 3.5 or later'
const words = {
  KeyTextError: {
    'not-given': ['no key was given', 'check that the variable is set'],
    'white-space': ['there is white space around the key', 'remove it, including line breaks'],
    'not-a-key': ['this is not a Sealed Push key', 'copy the whole text again, without spaces'],
    'wrong-kind': [
      'this is not the type of key expected here',
      'use push1 or pushpq. for a recipient, PUSH-SENDER-SECRET-KEY-1 for a sender, or pushenrollment1 for an enrollment',
    ],
    'wrong-case': [
      'the key is in the wrong case, or mixes uppercase and lowercase',
      'a secret key must be uppercase; any other key must be all lowercase or all uppercase',
    ],
    'wrong-checksum': ["the key's checksum is wrong", 'copy the whole text again'],
    unsupported: ['this is a hybrid key, which needs ML-KEM', MLKEM],
    'refused-key': ['the key is not safe to use', 'it was altered or made up; ask its owner for the right one'],
  },
  ContentError: {
    'malformed-content': ["the content can't be sealed", 'see Specification 4.6 for the members and their values'],
  },
  TooLargeError: {
    'too-large': ["the content doesn't fit into one push", 'shorten it, or have the app fetch large parts'],
  },
  SettingError: {
    topic: ['not a bundle ID', 'use 1 to 155 of the characters A-Z a-z 0-9 . -, such as com.example.app'],
    'other-topic': ["the topic differs from the sender's", 'use one Sender for each app'],
    'safe-default': [
      'not a valid safe default',
      "use visible text, or an object of Apple's visible texts and loc-keys with a body, in at most 1,024 bytes of JSON",
    ],
    padding: ['not a padding policy', 'choose buckets, full, or none'],
    'require-hybrid': ["requireHybrid isn't a Boolean", 'use true or false'],
    receipts: [
      "devices can't post receipts to this URL",
      'use an https URL of at most 256 characters with a lowercase host, and without a user, password, or fragment',
    ],
    'outbox-key': ["not an outbox's key", 'pass the text of the file that sealedpush --outbox-key names'],
    'device-name': ['not the name of a device in an outbox', 'use 1 to 128 bytes of text, and not . or ..'],
    'idempotency-key': ['not an idempotency key', 'use 1 to 256 bytes of text, such as the ID of the message'],
    priority: ['not a valid priority', 'use 10 or 5'],
    expiration: [
      'not a time, or a time in the past',
      `use ${MOMENT}, or 0 for a single attempt`,
    ],
    service: ["not a service's name", 'use 1 to 155 of the characters A-Z a-z 0-9 . -, or undefined for the topic'],
    now: ['not a time', `use ${MOMENT}, or undefined for the current time`],
    options: ['not an options object, or an option is unknown', 'index.d.ts lists the options'],
    keeps: ['not a number of days for which a key can be kept', 'use a whole number from 1 to 31'],
    sender: ['not a sender', 'pass a Sender from this package'],
    'provider-key': ["not Apple's provider key", 'pass the text of the .p8 file: a P-256 private key in PEM'],
    'provider-id': ["the provider key's ID and the team's ID have 10 characters each", "copy them from Apple's developer site"],
    environment: ['not an environment', 'use production, or sandbox for builds from Xcode'],
    server: ['not a server', 'use an https URL without a user or password'],
    ca: ['not a certificate authority', 'pass the text of a PEM file'],
    timeout: ['not a time limit', 'use 1 to 600 seconds'],
    'device-token': ["not a device's token", 'use 2 to 200 hexadecimal digits, and an even number of them'],
    push: ['not a push', 'pass what Sender.seal returned, or its payload and headers as they were stored'],
    functions: ['a function is missing, or not a function', 'give account, load, and save; index.d.ts describes them'],
    account: ['the function account returned neither text nor undefined', 'return the name of the account as text: a number needs String(id)'],
    load: ['the function load must return entries and others', 'index.d.ts describes Found'],
    save: ['the function save must return true or false', 'return false if load would no longer return the same'],
    database: ['not an open database', 'pass a database of better-sqlite3 or node:sqlite, as in new SQLiteStore(new DatabaseSync(path))'],
    pool: ['not a pool or client of pg', 'pass one, as in new PostgresStore(new pg.Pool({ connectionString }))'],
    base: ['not the beginning of a path', 'use a path such as /push, without a slash at the end'],
    device: ['not a device', 'pass a Device from this package, or call sealUnverified with a key, push1... or pushpq....'],
  },
  RecordError: {
    malformed: [
      'the record is malformed',
      'a record begins with pushrecord. and a leaving with pushleaving., and neither contains spaces',
    ],
    'wrong-checksum': ['the record was altered or truncated in transit', 'copy the whole text again'],
    'wrong-type': ['this is the wrong type of record', "a device record and a sender set can't replace each other"],
    'bad-signature': [
      'the record is not signed by the key it names',
      "it was altered or forged, or it is a leaving for another app; don't use it",
    ],
    'foreign-signer': ['the record is not signed by the pinned key', "enroll the device again, but only within its account's login"],
    'other-topic': ['the record is for another app', 'compare the bundle IDs of the app and the server'],
    'other-service': ['the leaving is for another service of this app', "compare the service's names in the app and in the server"],
    expired: ['the record has expired', 'ask the device for a new one'],
    'not-yet-valid': ['the record was created more than 26 hours ahead of this clock', 'compare the two clocks'],
    'rolled-back': ['the record is older than the known one', NEWEST],
    conflicting: ['two different records have this counter', NEWEST],
    unsupported: ['the record has another version, unknown keys only, or a hybrid key, which needs ML-KEM', `update this package; for hybrid keys, ${MLKEM}`],
    'not-hybrid': [
      "the key isn't hybrid, and this sender requires hybrid keys",
      "have the app use keyPolicy .hybrid, then challenge the device's new key",
    ],
    'expires-too-late': [
      'the push expires after the device may have erased its key',
      'make it expire within Device.keeps days, or omit expires and expiration; sent must not be older than that',
    ],
    unproven: ["none of this device's keys has answered a challenge yet", 'send one from Device.challenge'],
    'malformed-state': ['not a state that Device.toJSON returned', 'store the state unchanged: enrollment, record, proven, challenges'],
  },
  ChallengeError: {
    malformed: ['this is not well-formed', 'a challenge begins with pushchallenge. and an answer with pushanswer.'],
    'unknown-recipient': ['the challenge is for a key that this device does not have, or no longer uses', 'create a new challenge'],
    'unknown-sender': ['the challenge comes from a sender that is not trusted here', 'create it with a trusted sender'],
    rejected: ["the challenge doesn't open", "it was altered, is for another key or app, or isn't from the sender it names"],
    'foreign-enrollment': [
      "the challenge is about another device's enrollment",
      "don't answer; someone may be trying to enroll this device's key as theirs",
    ],
    'not-in-record': ["the challenge's recipient isn't in the device's newest record", 'create a new challenge'],
    'nothing-to-ask': ['all keys in the newest record are proven', 'no challenge is needed'],
    late: ['the answer came more than ten minutes after the challenge', 'create a new challenge'],
    'wrong-answer': ['this is not the answer to any open challenge', 'create a new challenge'],
  },
  ReceiptError: {
    'wrong-size': ["the receipt isn't 128 bytes long", "pass the request's whole body"],
    'unknown-version': ["the receipt's version is unknown", 'update this package'],
    rejected: ["none of these senders' devices created this receipt", 'include the senders of the last 7 days'],
    malformed: ['the receipt is malformed', 'drop it'],
    'too-old': ['the receipt was created more than 7 days ago', 'drop it'],
    clock: ['the receipt was created more than 26 hours ahead of this clock', 'compare the clocks'],
  },
  FileError: {
    unreadable: ["the file or its entry can't be read", 'pass a path, bytes, or a stream of bytes, and the unchanged entry'],
    'not-writable': ["the file can't be written", "check that the folder exists and the disk isn't full"],
    exists: ['the file already exists', "choose another name; files aren't overwritten"],
    empty: ['the file is empty', 'choose a file with content'],
    'too-large': ['the file is too large', 'iOS shows sounds of up to 5 MB, images of up to 10 MB, and movies of up to 50 MB'],
    'wrong-type': ["the file isn't of the given type", "pass the file's type, such as image/png"],
    url: [
      "devices can't fetch a file from this URL",
      'use an https URL of at most 2,048 characters with a lowercase host, and without a user, password, or fragment',
    ],
    id: ['not a valid attachment ID', 'use 1 to 64 bytes of text, unique within the message'],
    thumbnail: ['not a valid thumbnail', 'see ContentParts 14.1: hidden, clip, time'],
    cut: ['the file is shorter than it should be', 'store it again, byte for byte'],
    altered: ["the file isn't the one that was sealed", 'store it again, byte for byte'],
  },
  OpenError: Object.fromEntries(
    [
      'malformed', 'unknown-suite', 'unknown-recipient', 'unknown-sender', 'anonymous-not-allowed', 'rejected', 'malformed-content',
      'topic', 'key-retired', 'clock', 'too-old', 'expired', 'replayed',
    ].map((code) => [code, [`the push doesn't open (${code})`, 'see Docs/Specification.md, section 6']]),
  ),
}

/** The base class of the package's errors. `code` is stable and for programs; `message` and `hint` are for people. */
export class SealedPushError extends Error {
  constructor(code) {
    super()
    const [what, hint] = words[new.target.name]?.[code] ?? ['refused', 'see the code in the Specification']
    Object.assign(this, { code, hint })
    this.say(what)
  }

  get name() {
    return this.constructor.name
  }

  /** Sets the message, which becomes the stack's first line. */
  say(what) {
    Object.defineProperty(this, 'message', { value: `${what}: ${this.hint}`, writable: true, configurable: true })
    Error.captureStackTrace(this, this.constructor)
  }
}

/** A key's text is wrong (Specification 8). */
export class KeyTextError extends SealedPushError {}

/** The content can't be sealed (Specification 4). `member` is the path of the wrong member, if there is one. */
export class ContentError extends SealedPushError {
  constructor(why, member) {
    super('malformed-content')
    this.member = member
    this.say(member === undefined ? `the content ${why}` : `the content's "${member}" ${why}`)
  }
}

/** The content doesn't fit into one push. `excess` is the number of bytes of JSON by which it is too large. */
export class TooLargeError extends SealedPushError {
  constructor(excess) {
    super('too-large')
    this.excess = excess
    this.say(`the content is ${excess} bytes too large for one push`)
  }
}

/** An argument is invalid. */
export class SettingError extends SealedPushError {}

/** A signed record or leaving is refused, or a device can't be sealed to (Specification 11.3, 11.4). */
export class RecordError extends SealedPushError {}

/** A challenge isn't answered, or an answer is refused (Specification 11.5). */
export class ChallengeError extends SealedPushError {}

/** A receipt is refused (ContentParts 16.5). Respond with status 400. */
export class ReceiptError extends SealedPushError {}

/** A file wasn't sealed, or doesn't open (ContentParts 14). `cause` is the system's error, if there is one. */
export class FileError extends SealedPushError {
  constructor(code, { cause } = {}) {
    super(code)
    if (cause !== undefined) Object.defineProperty(this, 'cause', { value: cause, configurable: true, writable: true })
  }
}

/** A push doesn't open (Specification 6.1). Only `sealed-push/testing` throws it. */
export class OpenError extends SealedPushError {}
