// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A lease in a row of a database: exclusion, tokens, the queue, undos, crashes and failovers.
// docs/contributing/models.md describes the model.
//
// Two clients make ATTEMPTS_0 and ATTEMPTS_1 attempts, each with a new owner. Leases last TTL ticks
// of one clock, those of waiters that were granted the lock WINDOW ticks. A function of the schema
// is one step. With -DLATE an undo or a renewal may be carried out at any later time, and with
// -DDEATHS a client may die. With ENDS a session ends on the client's side first: until the
// database notices, it may still carry out the session's claim, and the session's place counts.
// With CRASHES the row becomes the flushed one, with FAILOVERS that of a standby that lags, whose
// clock is SET_BACK ticks behind. All sessions end then.
//
// holds  plain_short -DMAX_TIME=4
// long   plain
// long   late -DLATE
// long   late_and_deaths -DLATE -DDEATHS
// holds  late_short -DLATE -DMAX_TIME=3 -DRENEWALS=0 -DDEATHS
// holds  sessions_end_short -DENDS=1 -DMAX_TIME=3 -DRENEWALS=0
// long   sessions_end -DENDS=1 -DRENEWALS=0
// holds  message_lost -DMESSAGE_LOST -DRENEWALS=0
// holds  crash_short -DCRASHES=1 -DMAX_TIME=4 -DRENEWALS=0
// long   crash -DCRASHES=1
// long   crash_and_late -DCRASHES=1 -DLATE -DRENEWALS=0
// long   crash_boot_rule -DCRASHES=1 -DBOOT_RULE
// long   crash_async_renewals -DCRASHES=1 -DBOOT_RULE -DASYNC_RENEWALS
// long   crash_async_grants -DCRASHES=1 -DASYNC_GRANTS -DPAUSE_AFTER_CRASH
// long   crash_all_async -DCRASHES=1 -DALL_ASYNC -DPAUSE_AFTER_CRASH
// holds  failover_short -DFAILOVERS=1 -DSET_BACK=4 -DMAX_TIME=4 -DRENEWALS=0 -DATTEMPTS_0=1
// long   failover_set_back -DFAILOVERS=1 -DSET_BACK=4 -DMAX_TIME=4 -DRENEWALS=0
// long   failover -DFAILOVERS=1 -DSET_BACK=2 -DRENEWALS=0
// holds  pause_short -DCRASH_IN_PAUSE
// long   pause -DFAILOVERS=1 -DCRASHES=1 -DRENEWALS=0
// breaks counted_from_answer one_believer -DCOUNTED_FROM_ANSWER
// breaks owner_per_client one_believer -DLATE -DOWNER_PER_CLIENT
// breaks renewals_async one_believer -DCRASHES=1 -DASYNC_RENEWALS
// breaks two_kinds_async one_believer -DCRASHES=1 -DBOOT_RULE -DASYNC_RENEWALS -DASYNC_HAND_OFFS
// breaks hand_offs_async one_believer -DCRASHES=1 -DBOOT_RULE -DASYNC_HAND_OFFS -DWINDOW=2 -DTTL=3
// breaks grants_async one_believer -DCRASHES=1 -DBOOT_RULE -DASYNC_GRANTS
// breaks no_hold_off one_believer -DFAILOVERS=1 -DNO_HOLD_OFF
// breaks pause_forgotten one_believer -DCRASH_IN_PAUSE -DPAUSE_FORGOTTEN
// breaks no_floor tokens_rise -DFAILOVERS=1 -DNO_FLOOR -DMAX_TIME=4 -DRENEWALS=0
// breaks no_timeline tokens_rise -DFAILOVERS=1 -DNO_TIMELINE -DSET_BACK=4 -DMAX_TIME=4 -DRENEWALS=0
// breaks no_floor_after_crash tokens_rise -DCRASHES=1 -DASYNC_GRANTS -DPAUSE_AFTER_CRASH -DNO_FLOOR
// breaks place_kept no_waiter_is_forgotten -DENDS=1 -DPLACE_KEPT -DRENEWALS=0
// breaks undo_once undone_claim_is_over -DENDS=1 -DUNDO_ONCE -DRENEWALS=0
// limit  undo_for_a_ttl undone_claim_is_over -DENDS=1 -DUNDO_FOR_A_TTL -DRENEWALS=0

#ifdef CRASH_IN_PAUSE
#define FAILOVERS 1
#define CRASHES 1
#define ATTEMPTS_0 1
#define TTL 3
#define MAX_TIME 6
#define RENEWALS 0
#endif
#ifndef ATTEMPTS_0
#define ATTEMPTS_0 2
#endif
#ifndef ATTEMPTS_1
#define ATTEMPTS_1 1
#endif
#ifndef TTL
#define TTL 2
#endif
#ifndef WINDOW
#define WINDOW 1
#endif
#ifndef MAX_TIME
#define MAX_TIME 5
#endif
#ifndef RENEWALS
#define RENEWALS 1
#endif
#ifndef ENDS
#define ENDS 0
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef FAILOVERS
#define FAILOVERS 0
#endif
#ifndef SET_BACK
#define SET_BACK 0
#endif

#ifdef ALL_ASYNC
#define ASYNC_GRANTS
#define ASYNC_RENEWALS
#define ASYNC_HAND_OFFS
#endif

// Owner 0 is none.
#define CLIENT(owner) ((owner) > ATTEMPTS_0)

// The row, at present, on the disk, and at the standby.
typedef row {
    byte owner;
    byte expires;
    byte boot;    // under which the lease was written
    short fence;
};
row present;
row flushed;
row standby;
byte place;       // the owner in the queue: there are two clients
byte now;
byte boot = 1;
byte boot_began;
byte hold_off;    // no grants until this time
byte timeline;
byte behind;      // the clock of the promoted standby

// The sessions and the clients.
byte said_hello[2];  // the boot of the client's present session
bool is_alive[2];
bool believes[2];
byte deadline[2];
byte message[2];     // a grant on its way to the present session: its owner
byte message_expires[2];
short message_token[2];
bool waits[2];
#if ENDS > 0
// The session that has ended on its client's side only.
bool old_lives;
byte old_claim;       // not carried out yet
bool place_is_old;    // the place is of that session
byte undone;          // the owner whose undo is not over
byte undo_began;
byte ends;
#define PLACE_LIVES (!place_is_old || old_lives)
#define PLACE_IS_OLD place_is_old
#else
#define PLACE_LIVES true
#define PLACE_IS_OLD false
#endif

byte late_owner;
byte late_kind;       // 1: an undo, 2: a renewal
byte crashes;
byte failovers;

// Not part of the system.
short newest_token;   // that a caller has received
bool was_served;

// The properties. Each is true, or the search ends.
hidden byte one_believer;
hidden byte tokens_rise;
hidden byte no_waiter_is_forgotten;
hidden byte undone_claim_is_over;

#include "_sql_rows.pml"

inline believe(c, until) {
    if
    :: now < until ->
       one_believer = !(believes[1 - c] && now < deadline[1 - c]);
       assert(one_believer);
       believes[c] = true;
       deadline[c] = until
    :: else -> believes[c] = false
    fi
}

inline receive(received) {
    tokens_rise = received > lowest;
    assert(tokens_rise);
    newest_token = (received > newest_token -> received : newest_token)
}

// The states of a client.
#define IDLE 0
#define ASKS 1      // the claim was sent
#define ANSWERED 2  // the answer is on its way
#define WAITS 3
#define HOLDS 4
#define RENEWS 5
#define RENEWED 6
#define ENDS_HOLD 7
#define GONE 9
#define IS_DOWN (said_hello[c] != boot)

#if ENDS > 0
// The session ends on the client's side. The attempt ends with it, and its claim is undone.
inline end_session(is_sent) {
    ends++;
    old_lives = true;
    old_claim = (is_sent -> owner : 0);
    place_is_old = (place == owner);
    undone = owner;
    undo_began = now;
    message[c] = 0;
    lowest = 0;
    asked_at = 0;
    waits[c] = false;
    state = IDLE
}
#endif

proctype Client(byte c; byte most) {
    byte state, attempts, owner, asked_at, renewals;
    short token, lowest;
    do
    :: atomic {
           state == IDLE && attempts < most ->
           attempts++;
           owner = c * ATTEMPTS_0 + attempts;
           renewals = 0;
           lowest = newest_token;
           said_hello[c] = boot;
           message[c] = 0;
           asked_at = now;
           state = ASKS
       }
    :: atomic { state == IDLE && attempts == most -> state = GONE; break }
    :: atomic {
           state == ASKS && !IS_DOWN ->
           serve();
           if
           :: IS_FREE && MAY_GRANT && place == 0 ->
              give(owner, TTL);
              token = present.fence;
              commit(GRANT_IS_FLUSHED);
              state = ANSWERED
           :: else ->
              commit(RELEASE_IS_FLUSHED);
              if
              :: place == 0 -> place = owner; waits[c] = true; state = WAITS
              :: else -> lowest = 0; asked_at = 0; state = IDLE
              fi
           fi;
           was_served = false;
           CHECK_WAITERS
       }
    :: atomic { state == ASKS && IS_DOWN -> lowest = 0; asked_at = 0; state = IDLE }
    :: atomic {
           state == ANSWERED && !IS_DOWN ->
           receive(token);
           token = 0;
           lowest = 0;
#ifdef COUNTED_FROM_ANSWER
           asked_at = now;
#endif
           believe(c, asked_at + TTL);
           asked_at = 0;
           state = (believes[c] -> HOLDS : ENDS_HOLD)
       }
       // The answer is lost.
    :: atomic { state == ANSWERED -> token = 0; lowest = 0; asked_at = 0; state = ENDS_HOLD }
    :: atomic {
           state == WAITS && !IS_DOWN && message[c] == owner ->
           receive(message_token[c]);
           believe(c, message_expires[c]);
           lowest = 0;
           asked_at = 0;
           message[c] = 0;
           waits[c] = false;
           state = (believes[c] -> HOLDS : ENDS_HOLD)
       }
       // The refresh after the end of a lease.
    :: atomic {
           state == WAITS && !IS_DOWN && place == owner && present.owner != 0 &&
               EXPIRES <= now && MAY_GRANT ->
           serve();
           commit(RELEASE_IS_FLUSHED);
           was_served = false;
           CHECK_WAITERS
       }
#ifdef MESSAGE_LOST
       // A refresh finds the grant, or that the place is gone.
    :: atomic {
           state == WAITS && message[c] == 0 && place != owner ->
           if
           :: present.owner == owner && EXPIRES > now ->
              receive(present.fence);
              believe(c, present.expires)
           :: else
           fi;
           lowest = 0;
           asked_at = 0;
           waits[c] = false;
           state = (believes[c] -> HOLDS : ENDS_HOLD)
       }
#endif
    :: atomic {
           state == WAITS && IS_DOWN ->
           lowest = 0;
           asked_at = 0;
           waits[c] = false;
           state = IDLE
       }
    :: atomic {
           state == WAITS && now == MAX_TIME ->
           lowest = 0;
           asked_at = 0;
           waits[c] = false;
           state = ENDS_HOLD
       }
    :: atomic {
           state == HOLDS && renewals < RENEWALS ->
           renewals++;
           asked_at = now;
           state = RENEWS
       }
    :: atomic {
           state == RENEWS && !IS_DOWN ->
           if
           :: IS_SAME(present.owner, owner) && EXPIRES > now ->
              present.expires = now + TTL;
              present.boot = boot;
              commit(RENEWAL_IS_FLUSHED);
              state = RENEWED
           :: else -> believes[c] = false; asked_at = 0; state = ENDS_HOLD
           fi
       }
       // Another session renews the hold while there is time.
    :: atomic { state == RENEWS && IS_DOWN -> said_hello[c] = boot; asked_at = now }
    :: atomic {
           state == RENEWED ->
           if
           :: now < deadline[c] -> believe(c, asked_at + TTL)
           :: else -> believes[c] = false
           fi;
           asked_at = 0;
           state = (believes[c] -> HOLDS : ENDS_HOLD)
       }
    :: atomic { state == RENEWED && IS_DOWN -> state = RENEWS }
    :: atomic { state == HOLDS -> believes[c] = false; state = ENDS_HOLD }
#ifdef DEATHS
    :: atomic {
           (state == WAITS || state == HOLDS) && attempts == most ->
           is_alive[c] = false;
           believes[c] = false;
           state = GONE;
           break
       }
#endif
#ifdef LATE
    :: atomic {
           state == ENDS_HOLD && late_owner == 0 ->
           late_owner = owner;
           late_kind = 1;
           state = IDLE
       }
    :: atomic {
           state == ENDS_HOLD && late_owner == 0 ->
           late_owner = owner;
           late_kind = 2;
           leave(owner);
           state = IDLE
       }
#endif
#if ENDS > 0
    :: atomic { state == ASKS && ends < ENDS -> end_session(true) }
    :: atomic { state == ANSWERED && ends < ENDS -> token = 0; end_session(false) }
#ifdef PLACE_KEPT
       // The wait goes on with another session.
    :: atomic {
           state == WAITS && ends < ENDS ->
           ends++;
           old_lives = true;
           place_is_old = (place == owner);
           message[c] = 0
       }
#else
    :: atomic { state == WAITS && ends < ENDS -> end_session(false) }
#endif
#endif
    :: atomic {
           state == ENDS_HOLD ->
           leave(owner);
           if
           :: IS_DOWN -> said_hello[c] = boot
           :: else
           fi;
           state = IDLE
       }
    od
}

#ifdef LATE
active proctype Late() {
    end:
    do
    :: atomic {
           late_owner != 0 ->
           if
           :: late_kind == 1 -> leave(late_owner)
           :: else ->
              if
              :: IS_SAME(present.owner, late_owner) && EXPIRES > now ->
                 present.expires = now + TTL;
                 present.boot = boot;
                 commit(RENEWAL_IS_FLUSHED)
              :: else
              fi
           fi;
           late_owner = 0;
           late_kind = 0
       }
    od
}
#endif

#if ENDS > 0
// The database carries out the claim of the session late, and notices the end of the session at
// any time.
active proctype Old_session() {
    end:
    do
    :: atomic {
           old_claim != 0 ->
           undone_claim_is_over = undone == old_claim;
           assert(undone_claim_is_over);
           serve();
           if
           :: IS_FREE && MAY_GRANT && place == 0 -> give(old_claim, TTL); commit(true)
           :: else ->
              commit(RELEASE_IS_FLUSHED);
              if
              :: place == 0 -> place = old_claim; place_is_old = true
              :: else
              fi
           fi;
           was_served = false;
           old_claim = 0
       }
    :: atomic { old_lives -> old_lives = false; old_claim = 0 }
    od
}

// lock_client::undo: repeated until the session of the claim is known to have ended.
active proctype Undo() {
    end:
    do
    :: atomic {
           undone != 0 ->
           leave(undone);
#ifdef UNDO_ONCE
           undone = 0
#else
#ifdef UNDO_FOR_A_TTL
           undone = (old_lives && now < undo_began + TTL -> undone : 0)
#else
           undone = (old_lives -> undone : 0)
#endif
#endif
       }
    od
}
#endif

init {
    atomic {
        is_alive[0] = true;
        is_alive[1] = true;
        run Client(0, ATTEMPTS_0);
        run Client(1, ATTEMPTS_1)
    };
    do
    :: now < MAX_TIME -> now++
#if CRASHES > 0
    :: atomic { crashes < CRASHES && DIFFERS(flushed, present) -> COPY(flushed, present) }
    :: atomic {
           crashes < CRASHES && now < MAX_TIME ->
           crashes++;
           now++;
           COPY(present, flushed);
#ifdef PAUSE_AFTER_CRASH
           hold_off = now + TTL;
#endif
#ifdef PAUSE_FORGOTTEN
           hold_off = 0;
#endif
           begin_boot()
       }
#endif
#if FAILOVERS > 0
    :: atomic { failovers < FAILOVERS && DIFFERS(standby, flushed) -> COPY(standby, flushed) }
    :: atomic {
           failovers < FAILOVERS && now < MAX_TIME ->
           failovers++;
           now++;
           COPY(present, standby);
           COPY(flushed, present);
           hold_off = now + TTL;
           begin_boot();
           timeline++;
           behind = SET_BACK
       }
#endif
    :: now == MAX_TIME -> break
    od
}
