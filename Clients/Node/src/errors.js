// What goes wrong, as one family: each error has a stable code, and says what to do. None holds a secret or any of the input.

const words = {
  KeyTextError: {
    'not-given': ['no key was given', 'is the variable set?'],
    'white-space': ["there is white space around the key's text", 'copy the text alone, without line ends'],
    'not-a-key': ["this is no text of a key of this project", 'copy it again, as a whole and without spaces'],
    'wrong-kind': [
      'this is no key of the kind that is wanted here',
      "a recipient begins with push1 or pushpq1, a sender's secret with PUSH-SENDER-SECRET-KEY-1, an enrollment with pushenrollment1",
    ],
    'wrong-case': [
      "the key's text has small letters where there are capitals, or the other way around",
      "a secret is written in capitals throughout; other keys don't mix the two",
    ],
    'wrong-checksum': ["a letter of the key's text is wrong or missing", 'copy it again, as a whole'],
    unsupported: ['this is a hybrid key, which needs ML-KEM', 'run Node 24.7 or later, with OpenSSL 3.5 or later'],
    'refused-key': ['nobody may use this public key', 'it was altered or made up: ask its owner for the right one'],
  },
  ContentError: {
    'malformed-content': ["the content can't be sealed", 'see Specification 4.6 for the members and their values'],
  },
  TooLargeError: {
    'too-large': ['the content does not fit into one push', 'shorten it, or let the app fetch what is large'],
  },
  SettingError: {
    topic: ['this is no bundle ID', 'a topic has 1 to 155 of A-Z a-z 0-9 . -, such as com.example.app'],
    'other-topic': ["the topic differs from the sender's", 'use one Sender for each app'],
    'safe-default': [
      "this can't be the text in the clear",
      "give some visible text, or an object of Apple's texts and loc-keys; at most 1,024 bytes of JSON",
    ],
    padding: ['there is no such padding', 'choose buckets, full or none'],
    'require-hybrid': ['this is neither true nor false', 'give requireHybrid a boolean'],
    priority: ['APNs has no such priority here', 'give 10 or 5'],
    expiration: [
      'this is no time, or a past one',
      'give whole seconds since 1970, neither milliseconds nor a lifetime; 0 is for a single attempt',
    ],
    now: ['this is no time', "give whole Unix seconds, not milliseconds, or nothing for the clock's"],
    options: ['these are no options, or one of them is not known', 'index.d.ts has their names'],
    sender: ['this is no sender', 'give a Sender of this package'],
    device: ['this is no device', 'give a Device of this package, or call sealUnverified with the text push1... or pushpq1...'],
  },
  RecordError: {
    malformed: ['this is no well-formed record', 'its text begins with pushrecord. and has no spaces'],
    'wrong-checksum': ['the record was altered or cut on the way', 'copy it again, as a whole'],
    'wrong-type': ['this is another kind of record', "a device's and a sender set can't stand for one another"],
    'bad-signature': ['the record is not signed by the key it names', 'it was altered or forged: do not use it'],
    'foreign-signer': [
      'the record is signed by another key than the pinned one',
      "enroll anew only inside the account's own login",
    ],
    'other-topic': ['the record is for another app', 'compare the bundle IDs of app and server'],
    expired: ['the record has expired', 'ask the device for a new one'],
    'not-yet-valid': ['the record was made more than 26 hours ahead of this clock', 'compare the two clocks'],
    'rolled-back': [
      'the record is older than the newest one',
      'give the device the newest record; it signs one with a higher counter',
    ],
    conflicting: [
      'there are two different records with this counter',
      'give the device the newest record; it signs one with a higher counter',
    ],
    unsupported: ['the record names a hybrid key, which needs ML-KEM', 'run Node 24.7 or later, with OpenSSL 3.5 or later'],
    'not-hybrid': ["the device's key is not hybrid", 'this sender has requireHybrid: ask the device for a hybrid key'],
    'expires-too-late': [
      'the push expires after the device may have erased its key',
      "let it expire within the days that Device.keeps gives, or leave expires and expiration out; sent can't be longer ago than that",
    ],
    unproven: ['no key of this device has answered a challenge yet', 'send what Device.challenge returns'],
    'malformed-state': [
      'this is not what Device.toJSON returned',
      'store it as it is: enrollment, record, proven, challenges',
    ],
  },
  ChallengeError: {
    malformed: ['this is not well-formed', 'an answer begins with pushanswer. and has no spaces'],
    'not-in-record': ['the key that was asked for is not in the newest record', 'make a new challenge'],
    'nothing-to-ask': ['all keys of the newest record are proven', 'there is nothing to ask for'],
    late: ['the answer came more than ten minutes after the challenge', 'make a new challenge'],
    'wrong-answer': ['this answers no challenge that waits', 'make a new challenge'],
  },
}

/** The base of all errors of this package: `code` is stable and for programs, `message` and `hint` are for people. */
export class SealedPushError extends Error {
  constructor(code) {
    super()
    const [what, hint] = words[new.target.name]?.[code] ?? ['refused', 'look the code up in the Specification']
    Object.assign(this, { code, hint })
    this.say(what)
  }

  get name() {
    return this.constructor.name
  }

  /** Sets the message; the stack's first line is made anew from it. */
  say(what) {
    Object.defineProperty(this, 'message', { value: `${what}: ${this.hint}`, writable: true, configurable: true })
    Error.captureStackTrace(this, this.constructor)
  }
}

/** A key's text is not what it should be (Specification 8). */
export class KeyTextError extends SealedPushError {}

/** The content can't be sealed (Specification 4). `member` is the name of the wrong member, if it is one's. */
export class ContentError extends SealedPushError {
  constructor(why, member) {
    super('malformed-content')
    this.member = member
    this.say(member === undefined ? `the content ${why}` : `the content's "${member}" ${why}`)
  }
}

/** The content does not fit into one push. `excess` is by how many bytes of JSON. */
export class TooLargeError extends SealedPushError {
  constructor(excess) {
    super('too-large')
    this.excess = excess
    this.say(`the content is ${excess} bytes too large for one push`)
  }
}

/** A sender can't be made or used so. */
export class SettingError extends SealedPushError {}

/** A signed record is not believed, or a device can't be sealed to (Specification 11.3, 11.4). */
export class RecordError extends SealedPushError {}

/** An answer proves nothing (Specification 11.5). */
export class ChallengeError extends SealedPushError {}
