// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The queue of one lock at one server: hand-offs, lost messages, undos.
// docs/contributing/models.md describes the model.
//
// Each client acquires the lock once, waits for it if necessary, and releases it. No periodic
// refresh and no end of a lease helps a waiter: if a waiter sleeps for ever, or a trace of an
// attempt stays at the server, the model shows it. Only the holds of dead clients end.
//
// holds  reconnects -DENDS=2
// holds  dead_waiters -DENDS=0 -DDEATHS=2
// holds  reconnects_and_deaths -DCLIENTS=2 -DENDS=2 -DDEATHS=1 -DCANCELS=1
// holds  cancelled -DCANCELS=2
// holds  late_acquires -DCLIENTS=2 -DENDS=2 -DCANCELS=1 -DLATE_ACQUIRES
// holds  late_refreshes -DCLIENTS=2 -DENDS=2 -DLATE_REFRESHES
// breaks no_look no_waiter_is_forgotten -DNO_LOOK
// breaks look_before_subscribe no_waiter_is_forgotten -DLOOK_BEFORE_SUBSCRIBE
// breaks first_waiter_only no_waiter_is_forgotten -DENDS=0 -DDEATHS=1 -DFIRST_WAITER_ONLY
// breaks no_undo no_waiter_is_forgotten -DCANCELS=1 -DNO_UNDO
// breaks undo_keeps_the_lock no_waiter_is_forgotten -DCANCELS=1 -DUNDO_KEEPS_THE_LOCK
// breaks undo_once no_trace_is_left -DCLIENTS=2 -DCANCELS=1 -DLATE_ACQUIRES -DUNDO_ONCE
// breaks same_owner_again no_waiter_is_forgotten -DCLIENTS=2 -DSAME_OWNER
// breaks undo_ends_own_hold undo_spares_holds -DCLIENTS=2 -DENDS=2 -DUNDO_ENDS_OWN_HOLD
// breaks release_by_name one_believer -DRELEASE_BY_NAME
// breaks last_refresh no_trace_is_left -DCLIENTS=2 -DENDS=2 -DLATE_REFRESHES -DLAST_REFRESH
// breaks undo_by_name undo_spares_holds -DCANCELS=1 -DUNDO_BY_NAME

#ifndef CLIENTS
#define CLIENTS 3
#endif
#ifndef ENDS
#define ENDS 1
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef CANCELS
#define CANCELS 0
#endif
#define ATTEMPTS 2

// An owner is a client's attempt. Owner 0 is none.
#ifdef SAME_OWNER
#define OWNER(c, attempt) (1 + (c) * ATTEMPTS)
#else
#define OWNER(c, attempt) (1 + (c) * ATTEMPTS + (attempt))
#endif
#define CLIENT(owner) (((owner) - 1) / ATTEMPTS)
#define OWNERS (CLIENTS * ATTEMPTS + 1)

mtype = { ACQUIRE, REFRESH, RELEASE, LEAVE, GRANTED, QUEUED, RELEASED, LEFT, LEFT_EARLY, GRANT };
#define NONE 0

// The server.
byte lock;                              // the owner of the hold
chan queue = [OWNERS] of { byte };      // owners that wait
bool is_subscribed[CLIENTS];            // on the present connection
bool has_old_subscription[CLIENTS];     // the server has not noticed that a connection has ended
bool was_released[OWNERS];
#define LISTENS(c) (is_subscribed[c] || has_old_subscription[c])

// The present connection of each client: at most one request, and the replies and messages.
bool is_connected[CLIENTS];
mtype request[CLIENTS];
byte request_owner[CLIENTS];
chan inbox[CLIENTS] = [6] of { mtype, byte };
mtype late[OWNERS];                     // a request of an earlier connection, not yet executed

// The clients.
#define NEW 1
#define ACQUIRING 2
#define WAITING 3
#define REFRESHING 4
#define HOLDING 5
#define RELEASING 6
#define MUST_RELEASE 7                  // the release was sent, but has no reply
#define FINISHED 8
#define DEAD 9
byte state[CLIENTS];
byte attempts[CLIENTS];
byte owner[CLIENTS];
bool must_look[CLIENTS];
bool got_grant[CLIENTS];                // a message that came before the reply to a refresh

bool lost_refresh[CLIENTS];             // a refresh of the attempt had no reply

// The undo of each owner's requests.
#define PENDING 1
#define SENT 2
#define CONFIRMED 3                     // but the server may still execute a late request
byte undo[OWNERS];
bool keeps_hold[OWNERS];                // the undo must not end the owner's hold

// Not part of the system.
byte ends;
byte deaths;
byte cancels;
hidden byte first;
hidden byte n;

// The properties. Each is true, or the search ends.
hidden byte one_believer;
hidden byte undo_spares_holds;
hidden byte no_waiter_is_forgotten;
hidden byte no_trace_is_left;

#include "_lock_scripts.pml"

inline begin_undo(attempt_owner) {
#ifndef NO_UNDO
    undo[attempt_owner] = PENDING
#else
    skip
#endif
}

inline hold() {
#ifndef LAST_REFRESH
    if
    :: lost_refresh[c] -> keeps_hold[owner[c]] = true; begin_undo(owner[c])
    :: else
    fi;
#endif
    state[c] = HOLDING;
    must_look[c] = false;
    got_grant[c] = false;
    one_believer = true;
    n = 0;
    do
    :: n < CLIENTS -> one_believer = one_believer && (n == c || state[n] != HOLDING); n++
    :: else -> break
    od;
    assert(one_believer);
    n = 0
}

inline finish() {
    state[c] = FINISHED;
    must_look[c] = false;
    got_grant[c] = false
}

// The requests that the server has not executed may be executed later.
#ifdef LATE_REFRESHES
#define MAY_BE_LATE(kind) (kind == ACQUIRE || kind == REFRESH)
#else
#ifdef LATE_ACQUIRES
#define MAY_BE_LATE(kind) (kind == ACQUIRE)
#else
#define MAY_BE_LATE(kind) false
#endif
#endif

inline end_connection() {
    if
    :: MAY_BE_LATE(request[c]) && late[request_owner[c]] == NONE ->
       late[request_owner[c]] = request[c]
    :: true
    fi;
    request[c] = NONE;
    request_owner[c] = 0;
    is_connected[c] = false;
    has_old_subscription[c] = has_old_subscription[c] || is_subscribed[c];
    is_subscribed[c] = false;
    do
    :: inbox[c] ? _, _
    :: empty(inbox[c]) -> break
    od;
    n = OWNER(c, 0);
    do
    :: n < OWNER(c, 0) + ATTEMPTS ->
       if
       :: undo[n] == SENT -> undo[n] = PENDING
       :: else
       fi;
       n++
    :: else -> break
    od;
    n = 0
}

// What the client does about its attempt at the end of a connection.
inline go_on() {
    if
    :: state[c] == ACQUIRING ->
       begin_undo(owner[c]);
       state[c] = (attempts[c] < ATTEMPTS -> NEW : FINISHED)
    :: state[c] == REFRESHING && got_grant[c] ->
       keeps_hold[owner[c]] = true;
       begin_undo(owner[c]);
       hold()
    :: state[c] == WAITING || (state[c] == REFRESHING && !got_grant[c]) ->
#ifndef LAST_REFRESH
       lost_refresh[c] = lost_refresh[c] || state[c] == REFRESHING;
#endif
       state[c] = WAITING;
#ifndef NO_LOOK
       must_look[c] = true
#endif
    :: state[c] == RELEASING -> state[c] = MUST_RELEASE
    :: else
    fi
}

// The limit of unread messages only bounds the model.
#define IS_READY(c) (is_connected[c] && request[c] == NONE && len(inbox[c]) < 3)

inline send(command, sender) {
    request[c] = command;
    request_owner[c] = sender
}

// The next reply or message. Each reply is of the only request.
inline read() {
    if
    :: kind == GRANT && state[c] == WAITING && id == owner[c] -> hold()
    :: kind == GRANT && state[c] == REFRESHING && id == owner[c] -> got_grant[c] = true
    :: kind == GRANTED && (state[c] == ACQUIRING || state[c] == REFRESHING) && id == owner[c] ->
       hold()
    :: kind == QUEUED && state[c] == ACQUIRING && id == owner[c] -> state[c] = WAITING
    // If a grant came before, it is older than the refresh, or was made by it: look again.
    :: kind == QUEUED && state[c] == REFRESHING && id == owner[c] ->
       state[c] = WAITING;
       must_look[c] = must_look[c] || got_grant[c];
       got_grant[c] = false
    :: kind == RELEASED -> finish()
    :: kind == LEFT -> undo[id] = NONE
    :: kind == LEFT_EARLY ->
#ifdef UNDO_ONCE
       undo[id] = NONE
#else
       undo[id] = CONFIRMED
#endif
    :: else
    fi
}

// The owner of the client's attempt for which an undo must be sent; NONE.
#define HAS_UNDO(c, attempt) (undo[OWNER(c, attempt)] == PENDING)

proctype Client(byte c) {
    mtype kind;
    byte id;
    end:
    do
    :: atomic {
           state[c] == NEW && IS_READY(c) ->
           owner[c] = OWNER(c, attempts[c]);
           attempts[c]++;
           send(ACQUIRE, owner[c]);
           state[c] = ACQUIRING
       }
    :: atomic {
           state[c] == WAITING && must_look[c] && IS_READY(c) ->
           must_look[c] = false;
           send(REFRESH, owner[c]);
           state[c] = REFRESHING
       }
    :: atomic {
           (state[c] == HOLDING || state[c] == MUST_RELEASE) && IS_READY(c) ->
           send(RELEASE, owner[c]);
           state[c] = RELEASING
       }
    :: atomic {
           IS_READY(c) && (HAS_UNDO(c, 0) || HAS_UNDO(c, 1)) ->
           id = (HAS_UNDO(c, 0) -> OWNER(c, 0) : OWNER(c, 1));
           undo[id] = SENT;
           send(LEAVE, id);
           id = 0
       }
    :: atomic {
           cancels < CANCELS &&
           (state[c] == ACQUIRING || state[c] == WAITING || state[c] == REFRESHING) ->
           cancels++;
           begin_undo(owner[c]);
           finish()
       }
    // The server executes the request.
    :: atomic {
           request[c] != NONE ->
           id = request_owner[c];
           execute(request[c]);
           request[c] = NONE;
           request_owner[c] = 0;
           inbox[c] ! kind, id;
           kind = NONE;
           id = 0
       }
    :: atomic {
           inbox[c] ? kind, id ->
           read();
#ifdef LOOK_BEFORE_SUBSCRIBE
           is_subscribed[c] = true;
#endif
           kind = NONE;
           id = 0
       }
    :: atomic {
           ends < ENDS && is_connected[c] ->
           ends++;
           end_connection();
           go_on()
       }
    :: atomic {
           deaths < DEATHS && state[c] != DEAD ->
           deaths++;
           end_connection();
           undo[OWNER(c, 0)] = NONE;
           undo[OWNER(c, 1)] = NONE;
           finish();
           state[c] = DEAD
       }
    // The handshake: SUBSCRIBE is confirmed before any other request is sent.
    :: atomic {
           !is_connected[c] && state[c] != DEAD ->
           is_connected[c] = true;
#ifdef LOOK_BEFORE_SUBSCRIBE
           is_subscribed[c] = state[c] != WAITING
#else
           is_subscribed[c] = true
#endif
       }
    // A late request is executed. The order of two of them does not matter.
    :: atomic {
           late[OWNER(c, 0)] != NONE || late[OWNER(c, 1)] != NONE ->
           id = (late[OWNER(c, 0)] != NONE -> OWNER(c, 0) : OWNER(c, 1));
           execute(late[id]);
           late[id] = NONE;
           kind = NONE;
           id = 0
       }
    :: atomic {
           undo[OWNER(c, 0)] == CONFIRMED && late[OWNER(c, 0)] == NONE ->
           undo[OWNER(c, 0)] = PENDING
       }
    :: atomic {
           undo[OWNER(c, 1)] == CONFIRMED && late[OWNER(c, 1)] == NONE ->
           undo[OWNER(c, 1)] = PENDING
       }
    // The lease of a dead client's hold ends. Refreshes of the waiters find that out.
    :: atomic {
           lock != NONE && CLIENT(lock) == c && state[c] == DEAD ->
           lock = NONE;
           n = 0;
           do
           :: n < CLIENTS ->
              if
              :: state[n] >= ACQUIRING && state[n] <= REFRESHING -> must_look[n] = true
              :: else
              fi;
              n++
           :: else -> break
           od;
           n = 0
       }
    :: atomic { has_old_subscription[c] -> has_old_subscription[c] = false }
    od
}


// Nothing can happen any more.
proctype End() {
    byte c;
    atomic {
        timeout;
        no_waiter_is_forgotten = true;
        do
        :: c < CLIENTS ->
           no_waiter_is_forgotten =
               no_waiter_is_forgotten && (state[c] == FINISHED || state[c] == DEAD);
           c++
        :: else -> break
        od;
        assert(no_waiter_is_forgotten);
        no_trace_is_left = lock == NONE;
        c = 1;
        do
        :: c < OWNERS ->
           no_trace_is_left =
               no_trace_is_left && (!(queue ?? [eval(c)]) || state[CLIENT(c)] == DEAD);
           c++
        :: else -> break
        od;
        assert(no_trace_is_left)
    }
}

init {
    atomic {
        byte c;
        do
        :: c < CLIENTS ->
           state[c] = NEW;
           is_connected[c] = true;
           is_subscribed[c] = true;
           run Client(c);
           c++
        :: else -> break
        od;
        run End();
        c = 0
    }
}
