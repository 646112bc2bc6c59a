/* Enrollment: a phone registers its record and proves its key, while requests and answers get lost. A carrier puts old
 * records back, the phone is restored from a backup, and Mallory registers the phone's record for her own account.
 *
 * monotone     The counter of a registered record never falls, and one counter never names two records.
 * own-account  A key is proven only for the account of the phone that holds it.
 * in-record    A proven key is in the newest record.
 * repeatable   The same record again is accepted.
 * ends         A phone registers again only after a failure, a rotation, or a restoration.
 * enrolled     In the end, the server has the phone's newest record, its key is proven, and Mallory's pin is gone.
 *
 * Plain numbers are the Specification's; `EnrollmentHTTP` is Docs/EnrollmentHTTP.md. A record has one key; `body` tells
 * records apart. There are 91,852 states.
 */
#define ALICE 0
#define MALLORY 1
#define FAILURES 2
#define ROTATIONS 2
#define REPLAYS 2
#define step atomic

/* The server: what it keeps for each account. */
bool isPinned[2];
byte counter[2], body[2], key[2], proven[2];

/* The phone. */
byte ownCounter, ownBody, ownKey = 1, signedKey, bodies, keys = 1;
bool isDone, mustSign;

/* The first record, for replays; and an answer that the carrier has seen. */
byte oldKey, oldBody, seenAnswer;
byte failures, rotations, restores, replays, submissions;

mtype = { taken, rolledBack, conflicting, elsewhere };

/* What a simulation prints is replayed on the real types: EnrollmentModelTests. */
mtype = { begin, noRequest, register, noAnswer, answer, noResult, newKey, newRecord, restore, oldRecord, oldAnswer, submit, ask };
#define tell(event, who) printf("%e account=%d phone=%d,%d,%d,%d alice=%d,%d,%d mallory=%d,%d,%d\n", event, who, ownCounter, ownBody, signedKey, ownKey, body[ALICE], key[ALICE], proven[ALICE], body[MALLORY], key[MALLORY], proven[MALLORY])

inline put(who, c, b, k) {
    if
    :: proven[1 - who] == 0 -> verdict = taken
    :: proven[1 - who] != 0 -> verdict = elsewhere                                          /* 11.5.8 */
    fi;
    if
    :: verdict == taken && c < counter[who] -> verdict = rolledBack                         /* 11.3.1 */
    :: verdict == taken && c == counter[who] && b != body[who] ->
        verdict = conflicting                                                               /* 11.3.1 */
    :: else
    fi;
    if
    :: verdict == taken ->
        assert(!isPinned[who] || c > counter[who] || c == counter[who] && b == body[who]);          /* monotone */
        isPinned[who] = true;                                                                 /* 11.4.2 */
        counter[who] = c; body[who] = b;
        key[who] = k;                                                                         /* 11.4.3 */
        if
        :: proven[who] != k -> assert(proven[who] != k);                                      /* repeatable */
            proven[who] = 0                                                                 /* 11.4.3 */
        :: else
        fi
    :: else
    fi
}

/* An answer for key k to a challenge of account `made`, posted in the login of account `who`. */
inline prove(who, made, k) {
    if
    :: made != who                                                                            /* 11.5.8 */
    :: made == who && key[who] != k                                                         /* 11.5.6 */
    :: made == who && key[who] == k ->
        proven[who] = k;                                                                    /* 11.5.6 */
        isPinned[1 - who] = false;                                                          /* 11.5.8 */
        counter[1 - who] = 0; body[1 - who] = 0; key[1 - who] = 0                           /* 11.5.8 */
    fi;
    assert(isPinned[1 - who] || counter[1 - who] == 0 && body[1 - who] == 0 && key[1 - who] == 0);   /* own-account */
    assert(proven[MALLORY] == 0);                                                           /* own-account */
    assert(proven[who] == 0 || proven[who] == key[who])                                           /* in-record */
}

inline sign(above) {
    d_step {
        bodies++; ownBody = bodies; signedKey = ownKey; mustSign = false;
        ownCounter = above + 1;                                                             /* 11.1.3 */
        assert(bodies <= 1 + rotations + 2 * restores);                                     /* ends */
    }
}

active proctype phone() {
    mtype verdict;
    byte challenged, runs;
again:
end:
    do
    :: step { !isDone -> challenged = 0; runs++;
        assert(runs <= 1 + failures + rotations + restores);                                /* ends */
        if
        :: runs == 1 + FAILURES + ROTATIONS + 1 -> assert(true)                             /* reached: all runs */
        :: else
        fi;
        if
        :: signedKey != ownKey || mustSign -> sign(ownCounter)                                          /* 11.4.1 */
        :: else
        fi;
        if :: oldBody == 0 -> oldBody = ownBody; oldKey = ownKey :: else fi;
        tell(begin, ALICE) }
       step {
        if
        :: failures < FAILURES -> failures++; tell(noRequest, ALICE); goto again    /* env EnrollmentHTTP 3.4 (harmless: never: as a lost challenge) */
        :: put(ALICE, ownCounter, ownBody, signedKey)
        fi;
        if
        :: verdict == rolledBack || verdict == conflicting -> assert(restores > 0);         /* repeatable */
            sign(counter[ALICE]);                                                           /* 11.4.5 */
            put(ALICE, ownCounter, ownBody, signedKey)
        :: else
        fi;
        if
        :: proven[ALICE] != key[ALICE] -> challenged = key[ALICE]  /* EnrollmentHTTP 3.3 (harmless: always: proven twice) */
        :: else
        fi;
        if
        :: failures < FAILURES -> failures++; tell(noAnswer, ALICE); goto again             /* env EnrollmentHTTP 3.4 */
        :: true -> tell(register, ALICE)
        fi }
       step {
        if
        :: signedKey != ownKey && restores == 0 -> assert(true)                         /* reached: a rotation in a run */
        :: mustSign && restores == 0 -> assert(true)                                  /* reached: a new record in a run */
        :: verdict == taken && ownCounter < counter[ALICE] -> assert(true)           /* reached: a restoration in a run */
        :: else
        fi;
        if
        :: challenged != 0 -> prove(ALICE, ALICE, challenged);  /* 11.5.3 (harmless: always: no record has key 0) */
            seenAnswer = challenged
        :: else
        fi;
        if
        :: failures < FAILURES -> failures++; tell(noResult, ALICE); goto again    /* env EnrollmentHTTP 4 (harmless: never: as a lost challenge) */
        :: true -> tell(answer, ALICE)
        fi;
        isDone = verdict == taken && proven[ALICE] == ownKey && !mustSign }
    od
}

active proctype world() {
    mtype verdict;
    byte a;
end:
    do
    :: atomic { rotations < ROTATIONS && oldBody != 0 -> rotations++;                       /* env 13.1 */
        if
        :: true -> keys++; ownKey = keys; tell(newKey, ALICE)
        :: true -> mustSign = true; tell(newRecord, ALICE)                                  /* env 11.4.1 */
        fi;
        isDone = false }
    :: atomic { restores == 0 && ownCounter > 1 -> restores++;                              /* env 11.4.5 */
        ownCounter = 1; ownBody = oldBody; signedKey = oldKey; isDone = false;
        if
        :: true -> keys++; ownKey = keys
        :: true -> ownKey = oldKey; mustSign = true                                         /* env 34.1.6 */
        fi;
        tell(restore, ALICE) }
    :: atomic { replays < REPLAYS && oldBody != 0 -> replays++;                             /* env 11.3.1 */
        put(ALICE, 1, oldBody, oldKey);
        if
        :: verdict == rolledBack && restores == 0 -> assert(true)   /* reached: an old record, put back */
        :: else
        fi;
        tell(oldRecord, ALICE) }
    :: atomic { replays < REPLAYS && seenAnswer != 0 -> replays++;                          /* env 11.5.7 */
        if :: a = ALICE :: a = MALLORY fi;
        prove(a, ALICE, seenAnswer);
        if
        :: a == MALLORY && key[MALLORY] == seenAnswer && proven[ALICE] == 0 ->
            tell(oldAnswer, MALLORY)                            /* reached: a stranger's use of an answer to her own key */
        :: else -> tell(oldAnswer, a)
        fi;
        a = 0 }
    :: atomic { submissions < 1 && oldBody != 0 -> submissions++;                           /* env 11.5.8 */
        if
        :: put(MALLORY, ownCounter, ownBody, signedKey); tell(submit, ALICE)
        :: signedKey != oldKey -> put(MALLORY, 1, oldBody, oldKey);                         /* env 11.1.4 */
            if
            :: verdict == elsewhere && proven[ALICE] != oldKey -> assert(true)  /* reached: an old record, refused */
            :: else
            fi;
            tell(submit, MALLORY)
        fi }
    :: atomic { replays < REPLAYS && isPinned[MALLORY] -> replays++;                        /* env 11.5.8 */
        if :: a = ALICE :: a = MALLORY fi;
        if
        :: a == MALLORY         /* 11.5.8 (harmless: always: the phone answers inside its login) */
        :: else -> if :: key[a] != 0 -> prove(a, a, key[a]) :: else fi
        fi;
        tell(ask, a); a = 0 }
    :: atomic { timeout ->
        assert(isDone && isPinned[ALICE] && counter[ALICE] == ownCounter && body[ALICE] == ownBody);   /* enrolled */
        assert(key[ALICE] == ownKey && proven[ALICE] == ownKey && !isPinned[MALLORY]);      /* enrolled */
        break }
    od
}
