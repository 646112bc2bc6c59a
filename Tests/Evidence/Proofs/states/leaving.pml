/* Leaving: two people use one phone by turns, and it leaves in between, while requests and answers get lost. A carrier repeats
 * leavings, and puts old records back. A server may refuse leavings.
 *
 * stays      A leaving removes no record that was signed after it.
 * fresh      No key is in records of two accounts.
 * welcome    A login is never refused because of the account before it, and no record is rolled back.
 * repeated   The phone registers again only after a failure or a login.
 * gone       In the end, the phone's account has its newest key, proven. No other account has one, unless a server refused.
 *
 * Plain numbers are the Specification's; `EnrollmentHTTP` is Docs/EnrollmentHTTP.md. A device of the server is an account and
 * one of the phone's two enrollment keys. There are 12,793 states.
 */
#define FAILURES 2
#define LOGINS 3
#define REPEATS 2
#define step atomic

/* The server: what it keeps for each device. A counter of 0 means none. */
byte counter[4], key[4], proven[4];

/* The phone. `owners` has for each key the account of its records, plus 1. `last` was its last key when it left. */
byte who, enrollment, ownCounter, ownKey = 1, signedKey, owners[LOGINS + 2], leaving, last;
bool isIn, isDone;

/* The first record and leaving, for replays. */
byte oldEnrollment, oldCounter, oldKey, oldLeaving, oldLast;
byte logins, failures, repeats, refusals, runs;

mtype = { taken, rolledBack, elsewhere };

/* What a simulation prints is replayed on the real types: LeavingModelTests. */
mtype = { login, logout, noLeaving, noThanks, leave, refuse, noChallenge, register, again, oldRecord };
#define device(d) counter[d], key[d], proven[d]
#define tell(event, account) printf("%e account=%d phone=%d,%d,%d,%d,%d devices=%d,%d,%d;%d,%d,%d;%d,%d,%d;%d,%d,%d\n", event, account, isIn, leaving != 0, enrollment, ownCounter, ownKey, device(0), device(1), device(2), device(3))

inline put(account, e, c, k) {
    if
    :: proven[2 * (1 - account) + e] != 0 -> verdict = elsewhere
    :: proven[2 * (1 - account) + e] == 0 && c < counter[2 * account + e] -> verdict = rolledBack
    :: else -> verdict = taken;
        counter[2 * account + e] = c;
        if
        :: key[2 * account + e] != k -> key[2 * account + e] = k; proven[2 * account + e] = 0
        :: else
        fi
    fi
}

inline forget(device) {
    counter[device] = 0; key[device] = 0; proven[device] = 0
}

inline takeFrom(device, c, upTo) {
    if
    :: counter[device] != 0 && counter[device] < c ->  /* EnrollmentHTTP 6.2 (harmless: counter[device] != 0 && counter[device] <= c: by 6.1) */
        assert(key[device] <= upTo);                                                        /* stays */
        forget(device)
    :: else
    fi
}

inline take(e, c, upTo) {
    takeFrom(e, c, upTo);                                                                   /* EnrollmentHTTP 6.2 */
    takeFrom(2 + e, c, upTo)                                                                /* EnrollmentHTTP 6.2 */
}

active proctype phone() {
    mtype verdict;
end:
    do
    :: step { !isIn && logins < LOGINS ->
        if :: who = 0 :: who = 1 fi;
        logins++; isIn = true; isDone = false; tell(login, who) }
    :: step { leaving != 0 ->
        if
        :: failures < FAILURES -> failures++; tell(noLeaving, who) /* env EnrollmentHTTP 6 (harmless: never: as a phone that waits) */
        :: failures < FAILURES -> failures++;                      /* env EnrollmentHTTP 6 (harmless: never: as a repeat) */
            take(enrollment, leaving, last); tell(noThanks, who)
        :: take(enrollment, leaving, last);
            leaving = 0; tell(leave, who)
        :: enrollment == 0 && refusals < 1 -> refusals++;                                   /* env EnrollmentHTTP 6 */
            leaving = 0;
            enrollment = 1;                                                                 /* EnrollmentHTTP 6 */
            tell(refuse, who)
        fi }
    :: step { isIn && !isDone && leaving == 0 ->                                            /* EnrollmentHTTP 6 */
        runs++;
        assert(runs <= logins + failures);                                                  /* repeated */
        if
        :: signedKey != ownKey ->
            ownCounter++;                                                                   /* 11.1.3 */
            signedKey = ownKey
        :: else
        fi;
        assert(owners[ownKey] == 0 || owners[ownKey] == who + 1);                           /* fresh */
        owners[ownKey] = who + 1;
        if :: oldKey == 0 -> oldEnrollment = enrollment; oldCounter = ownCounter; oldKey = ownKey :: else fi;
        put(who, enrollment, ownCounter, ownKey);
        assert(verdict == taken);                                                           /* welcome */
        if
        :: failures < FAILURES -> failures++; tell(noChallenge, who) /* env EnrollmentHTTP 3.4 (harmless: never: `enrollment` has failures) */
        :: proven[2 * who + enrollment] = ownKey;
            forget(2 * (1 - who) + enrollment);
            isDone = true; tell(register, who)
        fi }
    :: step { isIn && logins < LOGINS ->
        leaving = ownCounter + 1;                                                           /* EnrollmentHTTP 6.1 */
        ownCounter = leaving;                /* EnrollmentHTTP 6.1 (harmless: without ownCounter = leaving: 6.2 suffices) */
        last = ownKey;
        ownKey++;                                                                           /* 13.1 */
        isIn = false;
        if :: oldLeaving == 0 -> oldLeaving = leaving; oldLast = last :: else fi;
        tell(logout, who) }
    od
}

active proctype world() {
    mtype verdict;
    byte account;
end:
    do
    :: atomic { repeats < REPEATS && oldLeaving != 0 -> repeats++;                          /* env EnrollmentHTTP 6.2 */
        if
        :: isDone && logins > 1 && enrollment == 0 -> assert(true)   /* reached: a leaving, repeated after a new login */
        :: else
        fi;
        take(0, oldLeaving, oldLast); tell(again, 0) }
    :: atomic { repeats < REPEATS && oldKey != 0 -> repeats++;                              /* env EnrollmentHTTP 6.4 */
        if :: account = 0 :: account = 1 fi;
        put(account, oldEnrollment, oldCounter, oldKey);
        if
        :: verdict == taken && oldKey != ownKey -> assert(true)       /* reached: an old record, after a leaving */
        :: else
        fi;
        tell(oldRecord, account); account = 0 }
    :: atomic { timeout ->
        assert(leaving == 0 && isIn == isDone);                                             /* gone */
        assert(!isIn || proven[2 * who + enrollment] == ownKey);                            /* gone */
        assert(refusals > 0 || proven[0] + proven[1] + proven[2] + proven[3] == (isIn -> ownKey : 0));      /* gone */
        assert(refusals == 0 || proven[1] + proven[3] == (isIn && enrollment == 1 -> ownKey : 0));  /* gone */
        break }
    od
}
