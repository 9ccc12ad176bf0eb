// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The functions of the schema on the row and the queue, for sql_lease.pml.

#define COPY(to, from) \
    to.owner = from.owner; \
    to.expires = from.expires; \
    to.boot = from.boot; \
    to.fence = from.fence
#define DIFFERS(a, b) \
    (a.owner != b.owner || a.expires != b.expires || a.boot != b.boot || a.fence != b.fence)

// The rule of the boot is no part of the schema: a lease of an earlier boot counts for a ttl.
#ifdef BOOT_RULE
#define EXPIRES \
    ((present.boot == boot || present.expires > boot_began + TTL) \
        -> present.expires : boot_began + TTL)
#else
#define EXPIRES present.expires
#endif
#define IS_FREE (present.owner == 0 || EXPIRES <= now)

// hold_off: after a failover only. A crash does not end it.
#if FAILOVERS > 0 && !defined(NO_HOLD_OFF) || defined(PAUSE_AFTER_CRASH)
#define MAY_GRANT (now >= hold_off)
#else
#define MAY_GRANT true
#endif

#ifdef NO_FLOOR
#define FLOOR 0
#elif defined(NO_TIMELINE)
#define FLOOR ((now - behind) * 8)
#else
#define FLOOR (timeline * 200 + (now - behind) * 8)
#endif

#ifdef OWNER_PER_CLIENT
#define IS_SAME(a, b) ((a) != 0 && CLIENT(a) == CLIENT(b))
#else
#define IS_SAME(a, b) ((a) == (b))
#endif

#ifdef ASYNC_GRANTS
#define GRANT_IS_FLUSHED false
#else
#define GRANT_IS_FLUSHED true
#endif
#ifdef ASYNC_RENEWALS
#define RENEWAL_IS_FLUSHED false
#else
#define RENEWAL_IS_FLUSHED true
#endif
// A release without a waiter is never flushed at once.
#ifdef ASYNC_HAND_OFFS
#define RELEASE_IS_FLUSHED false
#else
#define RELEASE_IS_FLUSHED was_served
#endif

inline commit(is_flushed) {
#if CRASHES > 0
    if
    :: is_flushed -> COPY(flushed, present)
    :: else
    fi
#elif FAILOVERS > 0
    COPY(flushed, present)
#else
    skip
#endif
}

inline begin_boot() {
    clear_place();
    boot++;
    boot_began = now
}

inline give(to, length) {
    present.fence = (present.fence + 1 > FLOOR -> present.fence + 1 : FLOOR);
    present.owner = to;
    present.expires = now + length;
    present.boot = boot
}

inline notify() {
    message[CLIENT(place)] = place;
    message_expires[CLIENT(place)] = present.expires;
    message_token[CLIENT(place)] = present.fence
}

inline clear_place() {
    place = 0;
#if ENDS > 0
    place_is_old = false
#endif
}

// serve() of the schema. A message to a session that has ended on its client's side reaches nobody.
inline serve() {
    was_served = false;
    if
    :: place != 0 && IS_FREE && MAY_GRANT ->
       if
       :: is_alive[CLIENT(place)] && said_hello[CLIENT(place)] == boot && PLACE_LIVES ->
          give(place, WINDOW);
          was_served = true;
          if
          :: !PLACE_IS_OLD -> notify()
#ifdef MESSAGE_LOST
          :: true  // the releasing client died after its commit
#endif
          :: PLACE_IS_OLD
          fi
       :: else
       fi;
       clear_place()
    :: else
    fi
}

// A live waiter beside a free lock. Without its message, only a refresh helps the waiter.
#ifdef MESSAGE_LOST
#define CHECK_WAITERS skip
#else
#define IS_FORGOTTEN(c) (waits[c] && is_alive[c] && said_hello[c] == boot && message[c] == 0)
#define CHECK_WAITERS \
    no_waiter_is_forgotten = \
        !(present.owner == 0 && MAY_GRANT && (IS_FORGOTTEN(0) || IS_FORGOTTEN(1))); \
    assert(no_waiter_is_forgotten)
#endif

inline leave(left) {
    if
    :: IS_SAME(present.owner, left) -> present.owner = 0
    :: else
    fi;
    if
    :: place == left -> clear_place()
    :: else
    fi;
    serve();
    commit(RELEASE_IS_FLUSHED);
    was_served = false;
    CHECK_WAITERS
}
