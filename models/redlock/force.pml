// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A forced release over three nodes, without any clock. docs/contributing/models.md describes the
// model.
//
// Two acquires, of which each renews its hold once, and a forced release that begins and ends at any
// time. The release deletes each key it finds and learns the counters, and then raises the counters
// above all that it has learned. Its victims are the owners of the keys that it has deleted, and
// every hold that was granted before it began. Requests are lost, with -DREPLIES_LOST also the replies
// to acquires. The key of a hold may vanish at any instant.
//
// holds  forced
// long   replies_lost -DREPLIES_LOST
// breaks not_raised victim_is_not_renewed -DNOT_RAISED
// breaks raised_locally victim_is_not_renewed -DRAISED_LOCALLY
// breaks counters_first victim_is_not_renewed -DCOUNTERS_FIRST
// breaks renewed_by_count victim_is_not_renewed -DNOT_DELETED_AGAIN -DRENEW_BY_COUNT
// breaks next_after_unraised later_token_is_larger -DNOT_RAISED -DORDER_ONLY
// breaks no_confirmation tokens_are_distinct -DNO_CONFIRMATION

#define ACQUIRES 2
#include "_quorum.pml"

// Each node: the key of the lock, which is OWNER:COUNT, and its counter.
byte owner[NODES];
byte count[NODES];
byte counter[NODES];

// Not part of the system.
byte granted_holds;  // a set of acquires
byte victims;        // a set of acquires
bool is_forced;      // the forced release has ended with success
byte forced_above;
hidden byte next;

// The properties. Each is true, or the search ends.
hidden byte victim_is_not_renewed;

// The key of an earlier hold has vanished.
inline grant(acquirer, node) {
    counter[node] = counter[node] + 1;
    owner[node] = acquirer;
    count[node] = counter[node]
}

#ifdef RENEW_BY_COUNT
#define CAN_RENEW(a, node) (owner[node] == a && count[node] <= token)
#else
#define CAN_RENEW(a, node) (owner[node] == a && counter[node] <= token)
#endif

inline check_victim() {
#ifdef ORDER_ONLY
    skip
#else
    assert(victim_is_not_renewed)
#endif
}

proctype Acquire(byte a) {
    byte granted[NODES];  // the count of each node that granted it
    byte asked;
    byte node;
    byte quorum;
    byte token;
    byte newest_before;
    bool is_over;
    atomic {
        began == a - 1;
        began = a;
        newest_before = newest_token[0];
        at_least(newest_before, forced_above)
    };
    do
    :: atomic {
           asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: grant(a, node); granted[node] = count[node]; at_least(token, granted[node])
#ifdef REPLIES_LOST
           :: grant(a, node)
#endif
           :: true  // the lock is taken, or the request is lost
           fi;
           node = 0
       }
    :: atomic {
           asked == ALL_NODES ->
           asked = 0;
           do
           :: node < NODES ->
              if
              :: granted[node] == 0 -> asked = asked | (1 << node)
              :: granted[node] > 0 && granted[node] == token ->
                 asked = asked | (1 << node);
                 quorum = quorum | (1 << node)
#ifdef NO_CONFIRMATION
              :: granted[node] > 0 -> quorum = quorum | (1 << node)
#endif
              :: else
              fi;
              node++
           :: else -> break
           od;
           node = 0;
           break
       }
    od;
    do
    :: atomic { SIZE(quorum) >= MAJORITY -> break }
    :: atomic { SIZE(quorum) < MAJORITY && asked == ALL_NODES -> goto ended }
    :: atomic {
           SIZE(quorum) < MAJORITY && asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: owner[node] == a && count[node] == granted[node] ->
              at_least(counter[node], token);
#ifdef REPLIES_LOST
              if
              :: quorum = quorum | (1 << node)
              :: true
              fi
#else
              quorum = quorum | (1 << node)
#endif
           :: true  // refused, or the request is lost
           fi;
           node = 0
       }
    od;
    atomic {
        check_token(0, token, newest_before);
        granted_holds = granted_holds | (1 << a);
        asked = 0;
        quorum = 0;
        newest_before = 0;
        granted[0] = 0;
        granted[1] = 0;
        granted[2] = 0
    };
    // Renews the hold.
    atomic { is_over = is_forced && IS_IN(victims, a) };
    do
    :: atomic {
           asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: CAN_RENEW(a, node) ->
              at_least(counter[node], token);
              quorum = quorum | (1 << node)
           :: counter[node] <= token ->  // the key has vanished
              counter[node] = token;
              owner[node] = a;
              count[node] = token;
              quorum = quorum | (1 << node)
           :: true
           fi;
           node = 0
       }
    :: atomic {
           asked == ALL_NODES ->
           victim_is_not_renewed = SIZE(quorum) < MAJORITY || !is_over;
           check_victim();
           break
       }
    od;
    ended:
    atomic {
        asked = 0;
        node = 0;
        quorum = 0;
        token = 0;
        newest_before = 0;
        is_over = false;
        granted[0] = 0;
        granted[1] = 0;
        granted[2] = 0
    }
}

inline delete_key(node) {
    if
    :: owner[node] != 0 -> victims = victims | (1 << owner[node]); owner[node] = 0; count[node] = 0
    :: else
    fi
}

inline delete_victim(node) {
    if
    :: IS_IN(victims, owner[node]) -> owner[node] = 0; count[node] = 0
    :: else
    fi
}

// Nodes have no names: the forced release asks them in the order of their numbers.
proctype Force() {
    byte node;
    byte answers;
    byte above;
    atomic { victims = granted_holds };
    do
    :: atomic {
           node < NODES ->
           if
#ifdef COUNTERS_FIRST
           :: if
              :: owner[node] != 0 -> victims = victims | (1 << owner[node])
              :: else
              fi;
#else
           :: delete_key(node);
#endif
#ifdef RAISED_LOCALLY
              counter[node] = counter[node] + 1;
              answers++
#else
              at_least(above, counter[node]);
              answers++
#endif
           :: true  // the request is lost
           fi;
           node++
       }
    :: atomic { node == NODES -> node = 0; break }
    od;
    atomic {
        if
        :: answers < MAJORITY -> goto ended
        :: else -> answers = 0; above++
        fi
    };
#if defined(NOT_RAISED) || defined(RAISED_LOCALLY)
    answers = MAJORITY;
#else
    do
    :: atomic {
           node < NODES ->
           if
           :: at_least(counter[node], above);
#ifndef NOT_DELETED_AGAIN
              delete_victim(node);
#endif
              answers++
           :: true  // the request is lost
           fi;
           node++
       }
    :: atomic { node == NODES -> break }
    od;
#endif
    ended:
    atomic {
        if
        :: answers >= MAJORITY ->
           is_forced = true
#if !defined(NOT_RAISED) || defined(ORDER_ONLY)
           ;
           forced_above = above
#endif
        :: else
        fi;
        node = 0;
        answers = 0;
        above = 0
    }
}

init {
    atomic {
        byte i = 1;
        do
        :: i <= ACQUIRES -> run Acquire(i); i++
        :: else -> break
        od;
        i = 0;
        run Force()
    }
}
