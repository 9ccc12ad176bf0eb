// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A forced release over three nodes, without any clock. docs/contributing/models.md describes the
// model.
//
// Two acquires, of which the first one renews its hold once, and a forced release that begins and
// ends at any time. The release learns the counters of a majority, and chooses a limit above all of
// them. Then it raises the counters of a majority to the limit. A node whose counter was lower
// deletes the key: its hold has a token below the limit. Requests are lost, and the key of a hold
// may vanish at any instant.
//
// holds  forced
// breaks not_raised forced_hold_ends -DNOT_RAISED
// breaks raised_locally forced_hold_ends -DRAISED_LOCALLY
// breaks deleted_always later_hold_is_spared -DDELETED_ALWAYS
// breaks next_after_unraised later_token_is_larger -DNOT_RAISED -DORDER_ONLY
// breaks no_confirmation tokens_are_distinct -DNO_CONFIRMATION

#define ACQUIRES 2
#include "_quorum.pml"

// Each node: the key of the lock, which is OWNER:COUNT, and its counter.
byte owner[NODES];
byte count[NODES];
byte counter[NODES];

// Not part of the system.
byte granted_holds;            // a set of acquires
byte earlier_holds;            // those that were granted before the forced release began
byte token_of[ACQUIRES + 1];
byte confirmed[ACQUIRES + 1];  // a set of nodes
byte forced_limit;             // of the forced release that has succeeded; 0: none

// The properties. Each is true, or the search ends.
hidden byte forced_hold_ends;
hidden byte later_hold_is_spared;

// The key of an earlier hold has vanished.
inline grant(acquirer, node) {
    counter[node] = counter[node] + 1;
    owner[node] = acquirer;
    count[node] = counter[node]
}

#define CAN_RENEW(a, node) (owner[node] == a && counter[node] <= token)

proctype Acquire(byte a) {
    byte granted[NODES];  // the count of each node that granted it
    byte asked;
    byte node;
    byte token;
    byte renewed;  // a set of nodes
    byte newest_before;
    bool is_over;
    atomic {
        began == a - 1;
        began = a;
        newest_before = newest_token[0]
#if !defined(NOT_RAISED) || defined(ORDER_ONLY)
        ;
        at_least(newest_before, forced_limit)
#endif
    };
    do
    :: atomic {
           asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: grant(a, node); granted[node] = count[node]; at_least(token, granted[node])
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
                 confirmed[a] = confirmed[a] | (1 << node)
#ifdef NO_CONFIRMATION
              :: granted[node] > 0 -> confirmed[a] = confirmed[a] | (1 << node)
#endif
              :: else
              fi;
              node++
           :: else -> break
           od;
           token_of[a] = token;
           node = 0;
           break
       }
    od;
    do
    :: atomic { SIZE(confirmed[a]) >= MAJORITY -> break }
    :: atomic { SIZE(confirmed[a]) < MAJORITY && asked == ALL_NODES -> goto ended }
    :: atomic {
           SIZE(confirmed[a]) < MAJORITY && asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: owner[node] == a && count[node] == granted[node] ->
              at_least(counter[node], token);
              confirmed[a] = confirmed[a] | (1 << node)
           :: true  // refused, or the request is lost
           fi;
           node = 0
       }
    od;
    atomic {
        check_token(0, token, newest_before);
        granted_holds = granted_holds | (1 << a);
        asked = 0;
        renewed = 0;
        newest_before = 0;
        granted[0] = 0;
        granted[1] = 0;
        granted[2] = 0
    };
    if
    :: a > 1 -> goto ended
    :: else
    fi;
    // Renews the hold.
    atomic { is_over = forced_limit > 0 && (token < forced_limit || IS_IN(earlier_holds, a)) };
    do
    :: atomic {
           asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: CAN_RENEW(a, node) ->
              at_least(counter[node], token);
              renewed = renewed | (1 << node)
           :: counter[node] <= token ->  // the key has vanished
              counter[node] = token;
              owner[node] = a;
              count[node] = token;
              renewed = renewed | (1 << node)
           :: true
           fi;
           node = 0
       }
    :: atomic {
           asked == ALL_NODES ->
           forced_hold_ends = SIZE(renewed) < MAJORITY || !is_over;
#ifndef ORDER_ONLY
           assert(forced_hold_ends);
#endif
           break
       }
    od;
    ended:
    atomic {
        asked = 0;
        token_of[a] = 0;
        confirmed[a] = 0;
        node = 0;
        renewed = 0;
        token = 0;
        newest_before = 0;
        is_over = false;
        granted[0] = 0;
        granted[1] = 0;
        granted[2] = 0
    }
}

inline delete_key(node) {
    later_hold_is_spared = owner[node] == 0 || !IS_IN(confirmed[owner[node]], node) ||
                           token_of[owner[node]] < limit;
    assert(later_hold_is_spared);
    owner[node] = 0;
    count[node] = 0
}

inline force(node) {
#if defined(RAISED_LOCALLY)
    limit = counter[node] + 1;
#endif
    if
#ifdef DELETED_ALWAYS
    :: counter[node] >= limit -> delete_key(node)
#else
    :: counter[node] >= limit
#endif
    :: else ->
       delete_key(node);
#ifndef NOT_RAISED
       counter[node] = limit
#endif
    fi
}

// Nodes have no names: the forced release asks them in the order of their numbers.
proctype Force() {
    byte node;
    byte answers;
    byte limit;
    atomic { earlier_holds = granted_holds };
    do
    :: atomic {
           node < NODES ->
           if
           :: answers++; at_least(limit, counter[node])
           :: true  // the request is lost
           fi;
           node++
       }
    :: atomic { node == NODES -> node = 0; break }
    od;
    atomic {
        if
        :: answers < MAJORITY -> goto ended
        :: else -> answers = 0; limit++
        fi
    };
    do
    :: atomic {
           node < NODES ->
           if
           :: force(node); answers++
           :: true  // the request is lost
           fi;
           node++
       }
    :: atomic { node == NODES -> break }
    od;
    ended:
    atomic {
        if
        :: answers >= MAJORITY -> forced_limit = limit
        :: else
        fi;
        node = 0;
        answers = 0;
        limit = 0
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
