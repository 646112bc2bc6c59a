// The package's errors. Each has a stable code and says what to do. None contains a secret or any of the input.

const NEWEST = 'send the device the newest record, so that it signs one with a higher counter'
const MLKEM = 'run Node 24.7 or later, with OpenSSL 3.5 or later'
const words = {
  KeyTextError: {
    'not-given': ['no key was given', 'check that the variable is set'],
    'white-space': ["the key's text has white space around it", 'copy only the text, without line breaks'],
    'not-a-key': ['not the text of a Sealed Push key', 'copy the whole text again, without spaces'],
    'wrong-kind': [
      'not the type of key expected here',
      "a recipient begins with push1 or pushpq1, a sender's secret with PUSH-SENDER-SECRET-KEY-1, and an enrollment with pushenrollment1",
    ],
    'wrong-case': [
      "the key's text has the wrong case, or mixes upper and lower case",
      'write a secret in capitals; write any other key in lowercase or in capitals throughout',
    ],
    'wrong-checksum': ["a character of the key's text is wrong or missing", 'copy the whole text again'],
    unsupported: ['this is a hybrid key, which needs ML-KEM', MLKEM],
    'refused-key': ['not a safe public key', 'it was altered or made up; ask its owner for the right one'],
  },
  ContentError: {
    'malformed-content': ["the content can't be sealed", 'see Specification 4.6 for the members and their values'],
  },
  TooLargeError: {
    'too-large': ["the content doesn't fit into one push", 'shorten it, or let the app fetch large parts'],
  },
  SettingError: {
    topic: ['not a bundle ID', 'use 1 to 155 of the characters A-Z a-z 0-9 . -, such as com.example.app'],
    'other-topic': ["the topic differs from the sender's", 'use one Sender for each app'],
    'safe-default': [
      'not a valid safe default',
      "give visible text, or an object of Apple's texts and loc-keys, of at most 1,024 bytes of JSON",
    ],
    padding: ['not a padding policy', 'choose buckets, full, or none'],
    'require-hybrid': ["requireHybrid isn't a Boolean", 'give true or false'],
    priority: ['not a valid priority', 'give 10 or 5'],
    expiration: [
      'not a time, or a time in the past',
      'give whole seconds since 1970, neither milliseconds nor a lifetime, or 0 for a single attempt',
    ],
    now: ['not a time', 'give whole Unix seconds, not milliseconds, or undefined for the current time'],
    options: ['not an object of options, or one of them is unknown', 'index.d.ts has their names'],
    keeps: ['not a number of days for which a key can be kept', 'give a whole number from 1 to 31'],
    sender: ['not a sender', 'give a Sender of this package'],
    device: ['not a device', 'give a Device of this package, or call sealUnverified with a key, push1... or pushpq1...'],
  },
  RecordError: {
    malformed: ['not a well-formed record', 'its text begins with pushrecord. and has no spaces'],
    'wrong-checksum': ['the record was altered or cut off in transit', 'copy the whole text again'],
    'wrong-type': ['not the type of record expected here', "a device record and a sender set can't replace each other"],
    'bad-signature': ["the record isn't signed by the key that it names", "it was altered or forged; don't use it"],
    'foreign-signer': ["the record isn't signed by the pinned key", "enroll the device again, but only within its account's login"],
    'other-topic': ['the record is for another app', 'compare the bundle IDs of the app and the server'],
    expired: ['the record has expired', 'ask the device for a new one'],
    'not-yet-valid': ['the record is dated more than 26 hours ahead of this clock', 'compare the two clocks'],
    'rolled-back': ['the record is older than the newest one', NEWEST],
    conflicting: ['two different records have this counter', NEWEST],
    unsupported: ['the record names a hybrid key, which needs ML-KEM', MLKEM],
    'not-hybrid': [
      "the key isn't hybrid, and this sender requires hybrid keys",
      "have the app use keyPolicy .hybrid, then challenge the device's new key",
    ],
    'expires-too-late': [
      'the push expires after the device may have erased its key',
      'let it expire within Device.keeps days, or leave out expires and expiration; sent must not be older than that',
    ],
    unproven: ['no key of this device has answered a challenge yet', 'send the device what Device.challenge returns'],
    'malformed-state': ['not a state that Device.toJSON returned', 'store the state unchanged: enrollment, record, proven, challenges'],
  },
  ChallengeError: {
    malformed: ['not a well-formed challenge or answer', 'a challenge begins with pushchallenge. and an answer with pushanswer.'],
    'unknown-recipient': ["the challenge is for a key that this device doesn't have", 'make a new challenge'],
    'unknown-sender': ["the challenge is from a sender that this device doesn't trust", 'make it with a trusted sender'],
    rejected: ["the challenge doesn't open", 'it was altered, or is for another key or app'],
    'foreign-enrollment': [
      "the challenge names another device's enrollment",
      "don't answer: someone may be trying to enroll this device's key as their own",
    ],
    'not-in-record': ["the challenged key isn't in the newest record", 'make a new challenge'],
    'nothing-to-ask': ['all keys of the newest record are proven', 'no challenge is needed'],
    late: ['the answer came more than ten minutes after the challenge', 'make a new challenge'],
    'wrong-answer': ["the answer doesn't match any open challenge", 'make a new challenge'],
  },
  OpenError: Object.fromEntries(
    [
      'malformed', 'unknown-recipient', 'unknown-sender', 'anonymous-not-allowed', 'rejected', 'malformed-content', 'topic',
      'key-retired', 'clock', 'too-old', 'expired', 'replayed',
    ].map((code) => [code, [`the push doesn't open (${code})`, 'Specification 6 explains the code']]),
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

  /** Sets the message, and makes the stack's first line from it. */
  say(what) {
    Object.defineProperty(this, 'message', { value: `${what}: ${this.hint}`, writable: true, configurable: true })
    Error.captureStackTrace(this, this.constructor)
  }
}

/** A key's text is wrong (Specification 8). */
export class KeyTextError extends SealedPushError {}

/** The content can't be sealed (Specification 4). `member` names the wrong member, if there is one. */
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

/** A signed record is refused, or a device can't be sealed to (Specification 11.3, 11.4). */
export class RecordError extends SealedPushError {}

/** A challenge isn't answered, or an answer is refused (Specification 11.5). */
export class ChallengeError extends SealedPushError {}

/** A push doesn't open (Specification 6.1). Only `sealed-push/testing` throws it. */
export class OpenError extends SealedPushError {}
