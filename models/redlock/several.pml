// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Several locks in one request, without any clock. docs/contributing/models.md describes the model.
//
// Two acquires of two locks each; with -DSECOND_WANTS_FIRST the second acquire is of the first lock
// only. A node grants all locks of a request or none. Each lock has a token of its own, and a
// counter at each node. The counters start apart. The key of a lock may vanish at any instant, and
// one counter vanishes. It continues then from the node's highest counter, which all its locks
// share.
//
// full   both
// holds  one_of_both -DSECOND_WANTS_FIRST
// breaks judged_by_first tokens_are_distinct -DJUDGED_BY_FIRST
// breaks one_token tokens_are_distinct -DSECOND_WANTS_FIRST -DONE_TOKEN
// breaks one_token_in_order later_token_is_larger -DSECOND_WANTS_FIRST -DONE_TOKEN -DORDER_ONLY
// breaks counter_from_zero tokens_are_distinct -DCOUNTER_FROM_ZERO

#ifndef ACQUIRES
#define ACQUIRES 2
#endif
#define LOCKS 2
#include "_quorum.pml"

// Each lock at each node: the key, which is OWNER:COUNT, and the counter.
byte owner[LOCKS * NODES];
byte count[LOCKS * NODES];
byte counter[LOCKS * NODES];
// Each node: the highest counter of all locks.
byte highest[NODES];
#define AT(lock, node) ((lock) * NODES + (node))

bool was_lost;     // a counter; not part of the system
hidden byte next;

#ifdef COUNTER_FROM_ZERO
#define COUNTER(lock, node) counter[AT(lock, node)]
#else
#define COUNTER(lock, node) \
    (counter[AT(lock, node)] > 0 -> counter[AT(lock, node)] : highest[node])
#endif
#ifdef SECOND_WANTS_FIRST
#define WANTS_BOTH (a == 1)
#else
#define WANTS_BOTH true
#endif

// The key of an earlier hold has vanished.
inline grant(lock) {
    next = COUNTER(lock, node) + 1;
    counter[AT(lock, node)] = next;
    at_least(highest[node], next);
    owner[AT(lock, node)] = a;
    count[AT(lock, node)] = next
}

// One key is still there, or has vanished.
inline confirm(lock) {
    if
    :: owner[AT(lock, node)] == a && count[AT(lock, node)] == granted[AT(lock, node)] ->
       next = COUNTER(lock, node);
       at_least(next, token[lock]);
       counter[AT(lock, node)] = next;
       at_least(highest[node], next);
       votes[lock]++
    :: true
    fi
}

inline count_votes(lock) {
    node = 0;
    do
    :: node < NODES ->
       if
       :: granted[AT(lock, node)] > 0 && granted[AT(lock, node)] == token[lock] -> votes[lock]++
       :: else
       fi;
       node++
    :: else -> break
    od
}

#define HAS_VOTES (votes[0] >= MAJORITY && (votes[1] >= MAJORITY || !WANTS_BOTH))

proctype Acquire(byte a) {
    byte granted[LOCKS * NODES];  // the count of each node that granted it
    byte asked;
    byte node;
    byte refused;  // a set of nodes
    byte token[LOCKS];
    byte votes[LOCKS];
    byte newest_before[LOCKS];
    atomic {
        began == a - 1;
        began = a;
        newest_before[0] = newest_token[0];
        newest_before[1] = newest_token[1]
    };
    do
    :: atomic {
           asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: grant(0);
              granted[AT(0, node)] = next;
              at_least(token[0], next);
              if
              :: WANTS_BOTH ->
                 grant(1);
                 granted[AT(1, node)] = next;
                 at_least(token[1], next)
              :: else
              fi
           :: refused = refused | (1 << node)  // a lock is taken, or the request is lost
           fi;
           node = 0
       }
    :: atomic {
           asked == ALL_NODES ->
           if
           :: SIZE(refused) > NODES - MAJORITY -> goto ended
           :: else
           fi;
           count_votes(0);
           count_votes(1);
           node = 0;
#ifdef JUDGED_BY_FIRST
           votes[1] = votes[0];
#endif
           if
           :: HAS_VOTES
           :: else ->  // each node must confirm all locks
              asked = refused;
              votes[0] = 0;
              votes[1] = 0
           fi;
           break
       }
    od;
    do
    :: atomic { HAS_VOTES -> break }
    :: atomic { !HAS_VOTES && asked == ALL_NODES -> goto ended }
    :: atomic {
           !HAS_VOTES && asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: confirm(0);
              if
              :: WANTS_BOTH -> confirm(1)
              :: else
              fi
           :: true  // the request is lost
           fi;
           node = 0
       }
    od;
    atomic {
#ifdef ONE_TOKEN
        if
        :: WANTS_BOTH -> at_least(token[0], token[1]); token[1] = token[0]
        :: else
        fi;
#endif
        check_token(0, token[0], newest_before[0]);
        if
        :: WANTS_BOTH -> check_token(1, token[1], newest_before[1])
        :: else
        fi
    };
    ended:
    atomic {
        asked = 0;
        node = 0;
        refused = 0;
        token[0] = 0;
        token[1] = 0;
        votes[0] = 0;
        votes[1] = 0;
        newest_before[0] = 0;
        newest_before[1] = 0;
        granted[0] = 0;
        granted[1] = 0;
        granted[2] = 0;
        granted[3] = 0;
        granted[4] = 0;
        granted[5] = 0
    }
}

#define LOSE_COUNTER(lock, node) \
    atomic { \
        !was_lost && counter[AT(lock, node)] > 0 -> \
        was_lost = true; \
        counter[AT(lock, node)] = 0 \
    }

proctype Losses() {
    end:
    do
    :: LOSE_COUNTER(0, 0)
    :: LOSE_COUNTER(0, 1)
    :: LOSE_COUNTER(0, 2)
    :: LOSE_COUNTER(1, 0)
    :: LOSE_COUNTER(1, 1)
    :: LOSE_COUNTER(1, 2)
    od
}

init {
    atomic {
        byte i = 1;
        counter[AT(0, 0)] = 1;
        highest[0] = 1;
        counter[AT(1, 1)] = 2;
        highest[1] = 2;
        do
        :: i <= ACQUIRES -> run Acquire(i); i++
        :: else -> break
        od;
        i = 0;
        run Losses()
    }
}
