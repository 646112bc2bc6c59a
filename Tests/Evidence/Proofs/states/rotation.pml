/* Rotation: a phone replaces its key while pushes are late and a stale server process still seals to the old key. Keys are
 * revoked after a theft, and the phone is restored from a backup. Key 1 is replaced by key 2; key 3 follows a revocation.
 *
 * never-lost   A push that was sealed in time opens, unless its key was revoked, or lost with the backup.
 * not-late     A replaced key opens nothing dated more than two hours after its replacement.
 * not-revoked  A revoked key opens nothing.
 * rises        The server never goes back to an older record.
 * confirms     The first push that opens under a new key confirms it, and then the old key retires.
 * ends         The app's work comes to an end.
 * recovers     In the end, the server seals to the phone's newest key, and replaced and revoked secrets are gone.
 *
 * Numbers name paragraphs of the Specification and of DeviceState. Each of the app's steps is one change of the keychain and relies on the
 * keychain alone, so a kill between two steps loses nothing. Time is counted in units of two hours.
 * There are 43,935 states.
 */
#define KEEPS 2         /* a push arrives within this time: 11.4.6 */
#define GRACE 1
#define END 7
#define STEPS 13        /* all that the app ever has to do */
#define step atomic

mtype = { absent, inUse, retired, revoked, erased };

/* The phone: the keychain, the extension's marker for key 2, and the newest record. */
mtype state[4] = absent;
byte confirmed, retiredAt, marker, counter, named;
bool isRevoking, mustSign, isGone;

/* The server: the key that it seals to, and the counter of its record. */
byte target, newest;

/* The push in transit. */
byte sealedTo, sent;
bool isForged;

byte clock = 1, restores, thefts, firstOpened;
bool isLost;

/* What a simulation prints is replayed on the real types: RotationModelTests. */
mtype = { add, sign, confirm, retire, revoke, erase, seal, receive, tick, theft, restore };
#define show(event, k, isOpen) printf("%e key=%d clock=%d sent=%d open=%d target=%d states=%e,%e,%e\n", event, k, clock, sent, isOpen, target, state[1], state[2], state[3])
#define tell(event, k) show(event, k, 0)

#define newestKey (state[3] == inUse -> 3 : (state[2] == inUse -> 2 : (state[1] == inUse -> 1 : 0)))
#define isStale (target == 2 && (marker == 0 || clock <= marker + GRACE))
#define exists(k) (state[k] == inUse || state[k] == retired)

inline submit() {
    if
    :: counter > newest                                                                     /* 11.3.1 */
    :: counter <= newest -> assert(restores > 0);                                           /* rises */
        counter = newest + 1                                                                /* 11.4.5 */
    fi;
    assert(counter > newest);                                                               /* rises */
    newest = counter;
    target = newestKey                                                                      /* 11.4.4 */
}

active proctype app() {
    byte steps;
end:
    do
    :: step {
        if
        :: state[1] == absent -> state[1] = inUse;                                          /* 34.1.4 */
            tell(add, 1)
        :: isGone && state[3] == absent -> state[3] = inUse;                                /* 34.1.4 */
            tell(add, 3)
        :: state[1] == inUse && state[2] == absent -> state[2] = inUse;                     /* 13.1.1 */
            tell(add, 2)
        :: newestKey != 0 && (named != newestKey || mustSign) ->
            named = newestKey; mustSign = false;
            counter++;                                                                      /* 11.1.3 */
            submit();
            tell(sign, named)
        :: confirmed == 0 && marker != 0 -> confirmed = marker;                             /* 13.2 */
            tell(confirm, 2)
        :: state[1] == inUse && confirmed != 0 ->                                           /* 13.2 */
            retiredAt = confirmed;
            state[1] = retired;
            tell(retire, 1)
        :: state[1] == retired && clock >= retiredAt + KEEPS + GRACE + 1 ->                 /* 13.4 */
            state[1] = erased;
            tell(erase, 1)
        :: isRevoking && exists(1) -> state[1] = revoked;                                   /* 13.1 */
            tell(revoke, 1)
        :: isRevoking && exists(2) -> state[2] = revoked;                                   /* 13.1 */
            tell(revoke, 2)
        :: isRevoking && !exists(1) && !exists(2) -> isRevoking = false; isGone = true
        :: state[1] == revoked -> state[1] = erased;                                        /* 13.4 */
            tell(erase, 1)
        fi;
        steps++;
        assert(steps <= STEPS);                                                             /* ends */
        if
        :: steps == STEPS -> assert(true)                                                   /* reached: all steps */
        :: else
        fi }
    od
}

/* The extension opens the push. */
inline open() {
    if
    :: state[sealedTo] == inUse -> isOpen = true                                            /* 13.1 */
    :: state[sealedTo] == retired -> isOpen = true                                          /* 13.1 */
    :: else
    fi;
    if
    :: state[sealedTo] == retired && sent > retiredAt + GRACE -> isOpen = false             /* 13.3 */
    :: else
    fi;
    if
    :: sealedTo == 1 && target == 2 && !isForged -> assert(true)                            /* reached: a stale push */
    :: sealedTo == 2 && isLost && !isOpen -> assert(true)                                   /* reached: a lost key */
    :: isForged -> assert(true)                                                             /* reached: a forged push */
    :: isOpen && state[sealedTo] == retired && clock == sent + KEEPS && sent == retiredAt + GRACE ->
        assert(true)                                                            /* reached: the last push to an old key */
    :: else
    fi;
    assert(isOpen || isForged || thefts != 0 && sealedTo != 3 || sealedTo == 2 && isLost);  /* never-lost */
    assert(!isOpen || !isGone || sealedTo == 3);                                            /* not-revoked */
    assert(!isOpen || sealedTo != 1 || confirmed == 0 || state[1] == inUse || sent <= marker + GRACE);  /* not-late */
    if
    :: isOpen && sealedTo == 2 && marker == 0 -> marker = clock                             /* 13.2 */
    :: else
    fi;
    if :: isOpen && sealedTo == 2 && firstOpened == 0 -> firstOpened = clock :: else fi;
    assert(marker == firstOpened);                                                          /* confirms */
    show(receive, sealedTo, isOpen);
    isOpen = false; sealedTo = 0; sent = 0; isForged = false
}

active proctype world() {
    bool isOpen;
end:
    do
    :: step { sealedTo == 0 && target != 0 && clock < END -> assert(sent == 0 && !isForged);
        sent = clock;
        if
        :: true -> sealedTo = target                                                        /* env 11.4.4 */
        :: isStale -> sealedTo = 1                                                          /* env 13.3 */
        :: true -> sealedTo = 1; isForged = true                    /* env 13.3 */
        fi;
        tell(seal, sealedTo) }
    :: step { sealedTo != 0 -> open() }
    :: step { sealedTo == 0 && clock < END || sealedTo != 0 && clock < sent + KEEPS && clock < END -> clock++;
        tell(tick, 0) }
    :: step { clock < END && thefts == 0 && named != 0 -> thefts++;                         /* env 13.5 */
        if
        :: restores != 0 -> assert(true)                                                    /* reached: a theft after a restoration */
        :: else
        fi;
        isRevoking = true; tell(theft, 0) }
    :: step { clock < END && restores == 0 && thefts == 0 && named != 0 -> restores++;      /* env 11.4.5 */
        state[1] = inUse; state[2] = erased; isLost = true; confirmed = 0; marker = 0;
        firstOpened = 0; named = 1; counter = 1;
        mustSign = true;                                                                   /* 34.1.6 */
        tell(restore, 0) }
    :: atomic { timeout ->
        assert(target == newestKey && target != 0 && (thefts != 0) == (target == 3));          /* recovers */
        assert(state[1] != retired || clock < retiredAt + KEEPS + GRACE + 1);               /* recovers */
        assert(state[2] == erased || state[2] == revoked || state[2] == absent || target == 2);  /* recovers */
        assert(marker == 0 || state[2] != inUse || state[1] != inUse);                      /* confirms */
        assert(state[1] != revoked && (state[2] != absent || thefts != 0));                 /* recovers */
        break }
    od
}
