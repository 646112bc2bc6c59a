/* The ledger: an app and its extension open messages in one folder. Each can be killed at any step, and power can fail.
 *
 * never-twice  A message is shown under one request identifier only, and loudly once at most.
 * never-lost   A message is refused only if the floor had to cover it, another identifier holds its entry, or that is damaged.
 * rises        The floor never falls.
 * no-trace     A message at or below the floor leaves no entry, and a purge drops each.
 * ends         An opening starts again only if a purge interfered.
 * renewed      A lost ledger counts as missing until it has begun again, and the app is then asked for a new key.
 *
 * Comments at the end of a line name paragraphs of the Specification and of DeviceState; `env` is what the world does. Message m is sent in
 * second m, all on one day. An entry holds its request identifier. A purge drops every entry: they are over the limit.
 * There are 4,299,512 states.
 */
#define FIRST 2
#define LAST 3
#define DAMAGED 9
#define DELIVERIES 3
#define BUDGET 8    /* a delivery costs 2; a purge, a kill, and a loss cost 1 each */
#define step atomic
#define durable(x) (powerLosses + losses == 0 -> x : 0)     /* only until the power fails */
#define each(body) d_step { i = FIRST; do :: i <= LAST -> body; i++ :: else -> break od; i = 0 }

/* The folder as processes see it, and as a power loss leaves it. Floor 0: no such file. */
byte entry[LAST + 1], entryOnDisk[LAST + 1];
bool written[LAST + 1], day, dayOnDisk, isOriginal = true, isHurt, rotate;
byte floor = 1, floorOnDisk = 1;

byte spent, deliveries, powerLosses, losses, now = LAST - 1, misses;
bool busy[2], killed[2];

/* Only claims read these. */
byte shownUnder[LAST + 1], rightFloor = 1;
bool isLoud[LAST + 1], isIntact = true;

/* What a simulation prints is replayed on the real files: LedgerModelTests. */
mtype = { deliver, examine, ask, raise, begin, look, make, keep, link, again, save, shown, repeated, refused };
mtype = { clean, find, raiseFloor, keepFloor, saveFloor, drop, remove, kill, fail, damage, lose };
#define show(event, p, m, id) printf("%e process=%d message=%d id=%d floor=%d day=%d entries=%d,%d rotate=%d original=%d disk=%d,%d,%d,%d now=%d\n", event, p, m, id, floor, day, entry[FIRST], entry[LAST], rotate, isOriginal, floorOnDisk, dayOnDisk, entryOnDisk[FIRST], entryOnDisk[LAST], now)
#define tell(event) show(event, _pid, m, id)

inline refuse() {
    assert(m <= rightFloor || entry[m] != 0 && entry[m] != id && (entry[m] != DAMAGED || isHurt));  /* never-lost */
    if
    :: entry[m] == DAMAGED && isHurt -> assert(true)                    /* reached: a damaged entry, refused */
    :: else
    fi;
    tell(refused);
    goto idle
}

/* Each raise may let one listing miss both the old file and the new one. */
inline list() {
    if
    :: seen == 0 && misses > 0 -> misses--                                                  /* env 32.5 */
    :: seen == 0 -> seen = floor
    :: else
    fi
}

inline readFloor() {
    list();                                                                                 /* 32.5 */
    list();                                                                                 /* 32.5 */
    list();                                                                                 /* 32.5 */
    if
    :: !isOriginal -> seen = 0                                                              /* 32.5 */
    :: else
    fi;
    assert(seen != 0 || !isIntact);                                                         /* renewed */
    tell(examine)
}

inline checkFloor() {
    step { readFloor() }
    if
    :: seen == 0 ->
        step {
            rotate = true;                                                                  /* 32.5 */
            tell(ask) }
        step {
            if
            :: now > floor -> floor = now       /* 32.5 (harmless: now >= floor: it is the same floor) */
            :: else
            fi;
            assert(floor >= rightFloor);                                                    /* rises */
            rightFloor = floor; tell(raise) }
        step {
            isOriginal = true;                                                              /* 32.5 */
            isIntact = floor >= now; seen = floor; tell(begin) }
    :: else
    fi;
}

inline heedFloor() {
    if
    :: m <= seen -> refuse()                                                                /* 7.3 */
    :: else
    fi;
    seen = 0
}

inline syncLedger() { floorOnDisk = durable(floor); dayOnDisk = durable(day) }
inline syncDay() { each(entryOnDisk[i] = durable(entry[i])) }

inline open() {
    checkFloor();
    step {
        heedFloor();                                                                        /* 32.1.1 */
        tell(look);
        if
        :: entry[m] == id -> isRepeat = true; goto sync     /* 32.1.4 (harmless: without goto sync: the link fails) */
        :: entry[m] != 0 && entry[m] != id -> refuse()      /* 32.1.3 (harmless: without refuse(): the link fails) */
        :: entry[m] == 0
        fi }
create:
    step {
        if
        :: !day -> dayOnDisk = false; each(entryOnDisk[i] = 0);
            day = true                                                                      /* 32.3 */
        :: else
        fi;
        isEmpty = true; each(isEmpty = isEmpty && entry[i] == 0); tell(make) }
    step {
        if
        :: isEmpty -> syncLedger()                          /* 32.3 (harmless: always: one sync more) */
        :: else
        fi;
        isEmpty = false; tell(keep) }
    step {
        isWritten = true;                                                                   /* 32.3 */
        if
        :: !day -> restarts++; assert(restarts <= spent); tell(again);                      /* ends */
            goto create                     /* 32.3 (harmless: without goto create: the floor is above the day) */
        :: day && entry[m] == 0 -> assert(m > start);                                        /* no-trace */
            entry[m] = id; written[m] = isWritten                                           /* 32.1.2 */
        :: day && entry[m] == id -> isRepeat = true                                         /* 32.1.4 */
        :: day && entry[m] != 0 && entry[m] != id -> refuse()                               /* 32.1.3 */
        fi;
        isWritten = false; tell(link) }
sync:
    step {
        syncDay();                                                                          /* 32.3 */
        tell(save) }
    checkFloor();
    step {
        heedFloor();                                                                        /* 32.1.5 */
        assert((shownUnder[m] == 0 || shownUnder[m] == id) && (isRepeat || !isLoud[m])); /* never-twice */
        shownUnder[m] = id; isLoud[m] = isLoud[m] || !isRepeat;
        if :: isRepeat -> tell(repeated) :: else -> tell(shown) fi }
}

/* Not while a message of its day can still be shown: another process may have synced this folder already. */
inline removeFolder() {
    if
    :: floor >= LAST -> day = false         /* 32.4 (harmless: never, floor > LAST, without day = false: it stays) */
    :: else
    fi
}

inline purge() {
    step { each(if :: entry[i] != 0 -> m = i :: else fi); tell(find) }
    step {
        if
        :: m > floor -> misses++;
            floor = m                                                                       /* 32.4 */
        :: else -> isRepeat = true
        fi;
        if :: m > rightFloor -> rightFloor = m :: else fi;
        if :: isRepeat -> tell(keepFloor) :: else -> tell(raiseFloor) fi }
    step {
        if
        :: !isRepeat -> syncLedger()                        /* 32.4 (harmless: always: both sync) */
        :: isRepeat -> syncLedger()                         /* 32.4 (harmless: always: both sync) */
        fi;
        tell(saveFloor); isRepeat = false; id = FIRST }
    do
    :: step { id <= m ->
        entry[id] = 0;                                                                      /* 32.4 */
        assert(entry[id] == 0);                                                             /* no-trace */
        tell(drop); id++ }
    :: step { id > m ->
        isEmpty = true; each(isEmpty = isEmpty && entry[i] == 0);
        if
        :: isEmpty -> removeFolder() /* 32.4 (harmless: never, always, without removeFolder(): all lies below the floor) */
        :: else
        fi;
        tell(remove);
        break }
    od
}

active [2] proctype opener() {
    byte m, id, seen, start, restarts, i;
    bool isRepeat, isEmpty, isWritten;
idle:
    atomic { busy[_pid] = false; killed[_pid] = false; m = 0; id = 0; seen = 0; start = 0; restarts = 0; i = 0;
        isRepeat = false; isEmpty = false; isWritten = false }
end:
    if
    :: atomic { spent + 2 <= BUDGET && deliveries < DELIVERIES -> spent = spent + 2; deliveries++;  /* env 7.5 */
        busy[_pid] = true; start = floor;
        if :: id = 1 :: deliveries > 1 -> id = 2 fi;
        if :: m = FIRST :: m = LAST; now = LAST fi;
        tell(deliver) }
        { open(); goto idle } unless { killed[_pid] -> goto idle }
    :: atomic { _pid == 1 && spent < BUDGET && floor != 0 && isOriginal -> spent++; busy[_pid] = true; tell(clean) }
        { purge(); goto idle } unless { killed[_pid] -> goto idle }
    fi
}

#define survive(seen, disk) if :: true :: disk != seen -> seen = disk fi; disk = seen

active proctype world() {
    byte i;
end:
    do
    :: atomic { spent < BUDGET && busy[1] && !killed[1] -> spent++; killed[1] = true; show(kill, 1, 0, 0) }  /* env 7.1 */
    :: atomic { spent < BUDGET && powerLosses + losses == 0 -> spent++; powerLosses++;                           /* env 32.3 */
        killed[0] = busy[0]; killed[1] = busy[1]; misses = 0;
        survive(floor, floorOnDisk);
        if
        :: !dayOnDisk -> day = false; each(entry[i] = 0)
        :: true -> survive(entry[FIRST], entryOnDisk[FIRST]); survive(entry[LAST], entryOnDisk[LAST]);
            each(if :: entry[i] != 0 && !written[i] -> entry[i] = DAMAGED; written[i] = true :: else fi)
        fi;
        each(entryOnDisk[i] = durable(entry[i])); dayOnDisk = durable(day); show(fail, 2, 0, 0) }
    :: atomic { spent < BUDGET && !isHurt && entry[LAST] != 0 && entry[LAST] != DAMAGED -> spent++;             /* env 32.1.3 */
        isHurt = true; entry[LAST] = DAMAGED; show(damage, 2, LAST, 0) }
    :: atomic { spent < BUDGET && powerLosses + losses == 0 && now < LAST -> spent++; losses++;                  /* env 32.5 */
        isIntact = false; isOriginal = false; rotate = false; day = false; each(entry[i] = 0);
        if :: floor = 0 :: floor = 1 :: floor = LAST; rightFloor = LAST fi;
        show(lose, 2, 0, 0) }
    :: atomic { timeout -> assert(losses == 0 || !isIntact || rotate); break }              /* renewed */
    od
}
