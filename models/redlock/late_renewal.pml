// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A renewal that a node executes after the release of the same hold, as a node that was frozen does
// with what is in its sockets. docs/contributing/models.md describes the model.
//
// A has the lock with the token 1, perhaps not at node 2. A's renewals and its releases are
// executed at each node once, or never, in any order; keys of A vanish at any time once A has given
// the lock up. Then B acquires the lock, and renews it. A release raises the node's counter to the
// next number, also where the key is missing, and a renewal restores a missing key only while the
// counter is not above its token. With READER, A and B are readers of one group, and C, a third
// one, has the lock all the time: nothing raises the counter then, and a renewal restores a missing
// reader only if it is executed soon, which is before the release.
//
// holds  raised
// breaks not_raised released_stays_free -DRAISE=0
// breaks raised_where_present released_stays_free -DONLY_WHERE_PRESENT
// breaks raised_too_far later_hold_is_kept -DRAISE=2
// holds  reader -DREADER
// breaks reader_restored_late released_stays_free -DREADER -DAT_ANY_TIME
// breaks reader_raises later_hold_is_kept -DREADER -DRAISES

#define NODES 3
#define MAJORITY 2
#ifndef RAISE
#define RAISE 1
#endif
#define A 1
#define B 2

// Each node: which of the two has the lock, as a set, and the counter.
byte owners[NODES];
byte counter[NODES];

// Not part of the system.
bool is_renewed[NODES], is_released[NODES];  // by A
bool has_given_up;                           // A
byte token_of_b;                             // 0: B does not have the lock

// The properties. Each is true, or the search ends.
hidden byte released_stays_free;
hidden byte later_hold_is_kept;

#define HAS(node, x) ((owners[node] & (x)) != 0)

#ifdef READER
#define MAY_ENTER(node) true
#ifdef AT_ANY_TIME
#define IS_SOON(node) true
#else
#define IS_SOON(node) (!has_given_up)
#endif
#else
#define MAY_ENTER(node) (owners[node] == 0)
#define IS_SOON(node) true
#endif

#if !defined(READER) || defined(RAISES)
#define RAISES_COUNTER true
#else
#define RAISES_COUNTER false
#endif

inline at_least(variable, least) {
    if
    :: variable < least -> variable = least
    :: else
    fi
}

inline check_release(node) {
    released_stays_free = !is_released[node] || !HAS(node, A);
    assert(released_stays_free)
}

proctype RequestsOfA(byte node) {
    end:
    do
    :: atomic {
           !is_renewed[node] ->
           is_renewed[node] = true;
           if
           :: MAY_ENTER(node) && counter[node] <= 1 && IS_SOON(node) ->
              owners[node] = owners[node] | A;
              at_least(counter[node], 1)
           :: else  // it is there, refused, or B's
           fi;
           check_release(node)
       }
    :: atomic {
           has_given_up && !is_released[node] ->
           is_released[node] = true;
           if
#ifdef ONLY_WHERE_PRESENT
           :: RAISES_COUNTER && RAISE > 0 && HAS(node, A) -> at_least(counter[node], 1 + RAISE)
#else
           :: RAISES_COUNTER && RAISE > 0 -> at_least(counter[node], 1 + RAISE)
#endif
           :: else
           fi;
           owners[node] = owners[node] & B;
           check_release(node)
       }
    :: atomic { has_given_up && HAS(node, A) -> owners[node] = owners[node] & B }
    od
}

proctype GiveUp() {
    atomic { has_given_up = true }
}

// B asks each node once, confirms its token at each node that is below, and renews.
proctype ClientB() {
    byte granted[NODES];
    byte node;
    byte votes;
    byte token;
    end:
    atomic { has_given_up };
    do
    :: atomic {
           node < NODES ->
           if
           :: MAY_ENTER(node) ->
#ifdef READER
              granted[node] = counter[node];
#else
              counter[node]++;
              granted[node] = counter[node];
#endif
              owners[node] = owners[node] | B;
              at_least(token, granted[node])
           :: true  // refused, or the request is lost
           fi;
           node++
       }
    :: atomic { node == NODES -> node = 0; break }
    od;
    do
    :: atomic {
           node < NODES ->
           if
           :: granted[node] > 0 && HAS(node, B) -> at_least(counter[node], token); votes++
           :: else
           fi;
           node++
       }
    :: atomic { node == NODES -> node = 0; break }
    od;
    if
    :: votes >= MAJORITY -> token_of_b = token
    :: else -> goto ended_
    fi;
    do
    :: atomic {
           node < NODES ->
           later_hold_is_kept = counter[node] <= token_of_b;
           assert(later_hold_is_kept);
           node++
       }
    :: atomic { node == NODES -> break }
    od;
    ended_:
    skip
}

init {
    atomic {
        owners[0] = A;
        owners[1] = A;
        counter[0] = 1;
        counter[1] = 1;
#ifdef READER
        counter[2] = 1;
#endif
        run RequestsOfA(0);
        run RequestsOfA(1);
        run RequestsOfA(2);
        run GiveUp();
        run ClientB()
    }
}
