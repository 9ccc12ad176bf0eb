// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The places of the waiters in a queue: which of them refresh often, and who tells a waiter that it
// has come near. docs/contributing/models.md describes the model.
//
// The first NEAR waiters must know that they are near, since one of them must notice the end of a
// lease; and if one of them is dead, its place must end soon. Waiters leave the queue by a release,
// which may admit several, by giving up, or because their places have ended. The lock always has an
// exclusive holder, so the first waiter may have a long place. At the beginning each waiter knows
// its rank.
//
// holds  leave -DLEAVES=3
// holds  admit -DADMITS=2 -DDEATHS=1
// holds  ends -DWAITERS=4 -DADMITS=1 -DLEAVES=1 -DDEATHS=2 -DENDS=1
// breaks not_told near_waiter_knows -DLEAVES=1 -DNOT_TOLD
// breaks leave_is_silent near_waiter_knows -DLEAVES=1 -DLEAVE_IS_SILENT
// breaks one_is_told near_waiter_knows -DADMITS=1 -DONE_IS_TOLD
// breaks first_is_not_told near_waiter_knows -DADMITS=1 -DFIRST_IS_NOT_TOLD
// breaks place_kept dead_place_is_short -DLEAVES=1 -DDEATHS=1 -DPLACE_KEPT
// breaks place_written_last dead_place_is_short -DDEATHS=2 -DPLACE_WRITTEN_LAST
// breaks no_refresh_after_end near_waiter_knows -DLEAVES=1 -DENDS=1 -DNO_REFRESH_AFTER_END

#ifndef WAITERS
#define WAITERS 5
#endif
#define NEAR 2
#ifndef ADMITS
#define ADMITS 0
#endif
#ifndef LEAVES
#define LEAVES 0
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef ENDS
#define ENDS 0
#endif
#ifndef REFRESHES
#define REFRESHES 3
#endif

mtype = { SHORT, LONG, OFTEN, FIRST, RARELY, LOOK };

// The server.
byte queue[WAITERS];
byte length;
mtype place[WAITERS];
bool is_of_first[WAITERS];              // the long place was given to the first waiter
bool has_ended[WAITERS];                // nobody has refreshed the place in time

// The waiters.
bool is_dead[WAITERS];
bool has_left[WAITERS];
mtype refreshes[WAITERS];               // how often
bool must_look[WAITERS];
bool is_asking[WAITERS];                // a refresh is on its way to the server
chan inbox[WAITERS] = [4] of { mtype };

// Not part of the system.
byte admits;
byte leaves;
byte deaths;
byte ends;
byte asks;
hidden byte i;
hidden byte n;
hidden byte rank;
hidden byte count;
hidden byte member;

// The properties. Each is true, or the search ends.
hidden byte near_waiter_knows;
hidden byte dead_place_is_short;

#define NEEDS_NO_LOOK(w) \
    (refreshes[w] == OFTEN || must_look[w] || is_asking[w] || nempty(inbox[w]))

inline check() {
    near_waiter_knows = true;
    dead_place_is_short = true;
    n = 0;
    do
    :: n < length && n < NEAR ->
       member = queue[n];
       if
       :: is_dead[member] ->
          dead_place_is_short = dead_place_is_short &&
              (place[member] == SHORT || (n == 0 && is_of_first[member]))
       :: else ->
          near_waiter_knows = near_waiter_knows &&
              (NEEDS_NO_LOOK(member) || (n == 0 && refreshes[member] == FIRST))
       fi;
       n++
    :: else -> break
    od;
    n = 0;
    member = 0;
    assert(near_waiter_knows);
    assert(dead_place_is_short)
}

inline find(w) {
    rank = 0;
    do
    :: rank < length && queue[rank] != w -> rank++
    :: else -> break
    od
}

inline remove_at(position) {
    n = position;
    do
    :: n + 1 < length -> queue[n] = queue[n + 1]; n++
    :: else -> break
    od;
    length--;
    queue[length] = 0;
    n = 0
}

// hurry_near_waiters of _grant_waiters.lua
inline hurry_near_waiters(removed) {
#ifdef ONE_IS_TOLD
    n = (removed > 0 -> NEAR - 1 : NEAR);
#else
    n = (removed < NEAR -> NEAR - removed : 0);
#endif
#ifdef FIRST_IS_NOT_TOLD
    n = (n == 0 -> 1 : n);
#endif
    do
    :: n < NEAR && n < length ->
       member = queue[n];
       if
       :: place[member] == LONG ->
#ifndef PLACE_KEPT
          place[member] = SHORT;
          is_of_first[member] = false;
#endif
#ifndef NOT_TOLD
          inbox[member] ! LOOK
#endif
       :: else
       fi;
       n++
    :: else -> break
    od;
    n = 0;
    member = 0
}

// refresh.lua: the place depends on the waiter's rank. Then the waiters at the head are removed
// whose places have ended.
inline keep_place(w) {
    has_ended[w] = false;
    place[w] = (rank == 0 || rank >= NEAR -> LONG : SHORT);
    is_of_first[w] = rank == 0
}

inline execute_refresh(w) {
    find(w);
#ifndef PLACE_WRITTEN_LAST
    keep_place(w);
#endif
    count = 0;
    do
    :: length > 0 && queue[0] != w && has_ended[queue[0]] -> remove_at(0); count++
    :: else -> break
    od;
    hurry_near_waiters(count);
#ifdef PLACE_WRITTEN_LAST
    keep_place(w);
#endif
    inbox[w] ! (rank == 0 -> FIRST : (rank < NEAR -> OFTEN : RARELY));
    count = 0;
    rank = 0
}

proctype Waiter(byte w) {
    mtype message;
    end:
    do
    // A refresh at any time: the pause between two of them only depends on `refreshes`. The number
    // of refreshes only bounds the model.
    :: atomic {
           asks < REFRESHES &&
           !is_dead[w] && !has_left[w] && !is_asking[w] && empty(inbox[w]) ->
           asks++;
           must_look[w] = false;
           is_asking[w] = true
       }
    :: atomic {
           is_asking[w] ->
           is_asking[w] = false;
           if
           :: !has_left[w] -> execute_refresh(w)
           :: else
           fi;
           check()
       }
    :: atomic {
           !is_dead[w] && nempty(inbox[w]) ->
           inbox[w] ? message;
           if
           :: message == LOOK -> must_look[w] = true
           :: else -> refreshes[w] = message
           fi;
           message = 0;
           check()
       }
    // leave.lua
    :: atomic {
           leaves < LEAVES && !is_dead[w] && !has_left[w] ->
           leaves++;
           has_left[w] = true;
           find(w);
           remove_at(rank);
           rank = 0;
#ifndef LEAVE_IS_SILENT
           hurry_near_waiters(1);
#endif
           check()
       }
    :: atomic {
           deaths < DEATHS && !is_dead[w] && !has_left[w] ->
           deaths++;
           is_dead[w] = true;
           check()
       }
    :: atomic { is_dead[w] && !is_asking[w] && !has_ended[w] -> has_ended[w] = true }
    // The connection ends, and the messages on it are lost. After the next one the waiter
    // refreshes at once.
    :: atomic {
           ends < ENDS && !is_dead[w] && !has_left[w] ->
           ends++;
           is_asking[w] = false;
           do
           :: inbox[w] ? _
           :: empty(inbox[w]) -> break
           od;
#ifndef NO_REFRESH_AFTER_END
           must_look[w] = true;
#endif
           check()
       }
    od
}

// release.lua: the lock goes to the first waiter, or to several readers. Then a writer has it.
proctype Holder() {
    end:
    do
    :: atomic {
           admits < ADMITS && length > 0 ->
           admits++;
           count = 0;
           do
           :: length > 0 -> has_left[queue[0]] = true; remove_at(0); count++
           :: count > 0 -> break
           od;
           hurry_near_waiters(count);
           count = 0;
           check()
       }
    od
}

init {
    atomic {
        do
        :: i < WAITERS ->
           queue[i] = i;
           place[i] = (i == 0 || i >= NEAR -> LONG : SHORT);
           is_of_first[i] = i == 0;
           refreshes[i] = (i == 0 -> FIRST : (i < NEAR -> OFTEN : RARELY));
           run Waiter(i);
           i++
        :: else -> break
        od;
        length = WAITERS;
        i = 0;
        run Holder()
    }
}
