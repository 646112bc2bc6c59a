/* Leases: two couriers work on one device's queue. Each can be killed or suspended, and answers of the carrier get lost.
 *
 * never-lost   A push leaves the queue only after the carrier has accepted it.
 * in-order     No courier hands over a push after a newer one. A repeat of an older push would replace the newer text if
 *              both share a collapse string.
 * never-twice  The device shows a message loudly once at most.
 * prompt       Only a courier that was killed makes its push wait until the lease is over.
 * ends         A push is sent again only after a failure, a lease that ran out, or a kill.
 * delivered    In the end, the queue is empty and each message was shown.
 *
 * Plain numbers are the Specification's; `Operations` is Docs/Operations.md. Message 1 is enqueued before message 2.
 * There are 56,933 states.
 */
#define LAST 2
#define FAILURES 2      /* lost requests and lost answers */
#define EXPIRIES 2
#define KILLS 1

/* The outbox: the entries, and the device's row with its lease. */
byte enqueued, failures, expiries, kills;
bool waiting[LAST + 1], isRow, isDue;
byte lease, number, inVain;

/* Couriers: their lease, and whether it is over by the courier's own clock. */
byte held[2];
bool isLate[2], isBusy[2], killed[2];

/* The device, and what was accepted. */
bool recorded[LAST + 1], accepted[LAST + 1];
byte loud[LAST + 1], orphan;

/* What a simulation prints is replayed on the real stores: LeaseModelTests. */
mtype = { enqueue, take, vain, accept, again, expire, kill };
#define tell(event, m) printf("%e courier=%d message=%d waiting=%d,%d\n", event, _pid, m, waiting[1], waiting[2])

#define head (waiting[1] -> 1 : (waiting[2] -> 2 : 0))

inline deliver(m) {
    assert(m == LAST || !accepted[LAST]);                                                   /* in-order */
    accepted[m] = true;
    if
    :: !recorded[m] -> loud[m]++;
        recorded[m] = true                                                                  /* 32.1.2 */
    :: else
    fi;
    assert(loud[m] <= 1)                                                                    /* never-twice */
}

/* The row belongs to the holder of the lease, even if the queue is empty. */
inline advance() {
    if
    :: lease == held[_pid] -> lease = 0;    /* Operations 7.1  */
        isDue = true                                                                        /* Operations 7.1 */
    :: else
    fi;
    if
    :: head == 0 ->                                                                         /* Operations 7.5 */
        if
        :: lease == 0 ->                                                                    /* Operations 7.5 */
            isRow = false                                                                   /* Operations 7.5 */
        :: else
        fi
    :: else
    fi
}

active [2] proctype courier() {
    byte m;
idle:
    atomic { held[_pid] = 0; isLate[_pid] = false; isBusy[_pid] = false; killed[_pid] = false; m = 0 }
end:
    atomic {
        isRow && isDue -> isBusy[_pid] = true;
        if
        :: head == 0 -> inVain++; assert(inVain <= expiries);                               /* prompt */
            isRow = false; tell(vain, 0); goto idle
        :: else
        fi;
        if
        :: lease != 0 && kills == 0 -> assert(true)                         /* reached: a lease of the other one ran out */
        :: else
        fi;
        m = head; number++; held[_pid] = number;
        assert(number <= LAST + FAILURES + EXPIRIES + KILLS);                               /* ends */
        lease = number; isDue = false;                                                      /* Operations 7.1 */
        tell(take, m)
    }
    {
        atomic {
            if
            :: isLate[_pid] -> goto later                                                   /* Operations 7.5 */
            :: failures < FAILURES -> failures++;                                           /* env Operations 9 */
                goto later                                                                  /* Operations 7.1 */
            :: !isLate[_pid] && failures < FAILURES -> failures++; deliver(m); goto later   /* env Operations 9 */
            :: !isLate[_pid] -> deliver(m)                                                  /* 2.11 */
            fi }
        atomic { assert(accepted[m]);                                                       /* never-lost */
            waiting[m] = false;                                                             /* Operations 7.1 */
            advance(); tell(accept, m); goto idle }    /* may be a transaction of its own: after a kill between, one courier comes in vain */
later:
        atomic {
            assert(isLate[_pid] || failures > 0);                                           /* prompt */
            if
            :: !isLate[_pid] && !accepted[m] -> assert(true)                            /* reached: a lost request */
            :: accepted[m] && expiries + kills == 0 -> assert(true)                     /* reached: a lost answer */
            :: else
            fi;
            if
            :: lease == held[_pid] -> lease = 0;    /* Operations 7.1 (harmless: without lease = 0: as above) */
                isDue = true                                                                /* Operations 7.1 */
            :: else
            fi;
            tell(again, m); goto idle }
    } unless { killed[_pid] -> goto idle }
}

active proctype world() {
    byte c;
end:
    do
    :: atomic { enqueued < LAST -> enqueued++;                                              /* env Operations 7.1 */
        waiting[enqueued] = true;
        if
        :: !isRow -> lease = 0;     /* Operations 7.5 (harmless: without lease = 0: the next lease replaces it) */
            isRow = true; isDue = true                                                      /* Operations 7.5 */
        :: else
        fi;
        tell(enqueue, enqueued) }
    :: atomic { expiries < EXPIRIES && isRow && !isDue -> expiries++;                       /* env Operations 7.1 */
        assert(lease != 0);                                                                 /* ends */
        isDue = true;
        if :: held[0] == lease -> isLate[0] = true :: held[1] == lease -> isLate[1] = true :: else fi;
        tell(expire, 0) }
    :: atomic { kills < KILLS && isBusy[0] -> kills++; orphan = held[0];    /* env Operations 7.1 */
        killed[0] = true; tell(kill, 0) }
    :: atomic { timeout ->
        if
        :: isRow -> assert(lease == orphan && orphan != 0); orphan = 0;                                    /* prompt */
            isDue = true;                                                                   /* Operations 7.1 */
            tell(expire, 0)
        :: else -> assert(enqueued == LAST && head == 0 && loud[1] == 1 && loud[2] == 1);   /* delivered */
            break
        fi }
    od
}
