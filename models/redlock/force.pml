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
// READERS says which acquires are of readers, as a set of bits. A reader's entry has a number, and
// its renewal does not compare the counter. So a node whose counter has reached the limit deletes
// the entries with a smaller number. With -DAPART the counter of node 0 has been raised before.
//
// full   forced
// full   forced_reader -DREADERS=2
// full   forced_readers -DREADERS=6 -DAPART
// breaks not_raised forced_hold_ends -DNOT_RAISED
// breaks raised_locally forced_hold_ends -DRAISED_LOCALLY
// breaks deleted_always later_hold_is_spared -DDELETED_ALWAYS
// breaks next_after_unraised later_token_is_larger -DNOT_RAISED -DORDER_ONLY
// breaks no_confirmation tokens_are_distinct -DNO_CONFIRMATION
// breaks entries_kept forced_hold_ends -DREADERS=6 -DAPART -DENTRIES_KEPT
// breaks entries_deleted later_hold_is_spared -DREADERS=2 -DENTRIES_DELETED
// breaks number_kept later_hold_is_spared -DREADERS=2 -DNUMBER_KEPT
// breaks number_not_renewed later_hold_is_spared -DREADERS=2 -DNUMBER_NOT_RENEWED

#define ACQUIRES 2
#ifndef READERS
#define READERS 0
#endif
#include "_quorum.pml"
#define IS_READER(a) IS_IN(READERS, a)

// Each node: the key of the lock, which is OWNER:COUNT, and its counter.
byte owner[NODES];
byte count[NODES];
byte counter[NODES];

// Each node: the number of each reader's entry; 0: none.
#if READERS
byte entry[(ACQUIRES + 1) * NODES];
#endif
#define ENTRY(a, node) entry[(a) * NODES + (node)]

// Not part of the system.
byte granted_holds;            // a set of acquires
byte earlier_holds;            // those that were granted before the forced release began
byte token_of[ACQUIRES + 1];
byte confirmed[ACQUIRES + 1];  // a set of nodes, also those of a renewal
byte forced_limit;             // of the forced release that has succeeded; 0: none

// The properties. Each is true, or the search ends.
hidden byte forced_hold_ends;
hidden byte later_hold_is_spared;

// The key of an earlier hold has vanished.
inline grant_writer(acquirer, node) {
    counter[node] = counter[node] + 1;
    owner[node] = acquirer;
    count[node] = counter[node]
}

#if READERS
inline clear_entries(node) {
    entry[NODES + node] = 0;
    entry[2 * NODES + node] = 0
}

inline grant(acquirer, node) {
    if
    :: IS_READER(acquirer) ->
       owner[node] = 0;
       count[node] = 0;
       ENTRY(acquirer, node) = counter[node]
    :: else -> grant_writer(acquirer, node); clear_entries(node)
    fi
}

inline set_number(a, node) {
    if
    :: IS_READER(a) -> ENTRY(a, node) = token
    :: else
    fi
}

#define GRANTED_COUNT(a, node) (IS_READER(a) -> ENTRY(a, node) : count[node])
#define HAS_GRANT(a, node) \
    (IS_READER(a) -> ENTRY(a, node) == granted[node] && granted[node] > 0 \
                  : owner[node] == a && count[node] == granted[node])
#define CAN_RENEW(a, node) \
    (IS_READER(a) -> ENTRY(a, node) > 0 && ENTRY(a, node) <= token \
                  : owner[node] == a && counter[node] <= token)
#else
#define clear_entries(node) skip
#define grant(acquirer, node) grant_writer(acquirer, node)
#define set_number(a, node) skip
#define GRANTED_COUNT(a, node) count[node]
#define HAS_GRANT(a, node) (owner[node] == a && count[node] == granted[node])
#define CAN_RENEW(a, node) (owner[node] == a && counter[node] <= token)
#endif

inline heal(a, node) {
    if
    :: IS_READER(a) -> owner[node] = 0; count[node] = 0
    :: else -> owner[node] = a; count[node] = token; clear_entries(node)
    fi;
    set_number(a, node)
}

inline note_renewal(a, node) {
    renewed = renewed | (1 << node);
    confirmed[a] = confirmed[a] | (1 << node)
}

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
           :: grant(a, node); granted[node] = GRANTED_COUNT(a, node); at_least(token, granted[node])
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
           :: HAS_GRANT(a, node) ->
              at_least(counter[node], token);
#ifndef NUMBER_KEPT
              set_number(a, node);
#endif
              confirmed[a] = confirmed[a] | (1 << node)
           :: true  // refused, or the request is lost
           fi;
           node = 0
       }
    od;
    atomic {
        if
        :: IS_READER(a) ->
           later_token_is_larger = token >= newest_before;
           assert(later_token_is_larger);
           at_least(newest_token[0], token)
        :: else -> check_token(0, token, newest_before)
        fi;
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
#ifndef NUMBER_NOT_RENEWED
              set_number(a, node);
#endif
              note_renewal(a, node)
           :: counter[node] <= token ->  // the key or the entry has vanished
              counter[node] = token;
              heal(a, node);
              note_renewal(a, node)
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

#define IS_CONFIRMED_HOLD(a, node) (IS_IN(confirmed[a], node) && token_of[a] >= limit)

inline delete_key(node) {
    later_hold_is_spared = owner[node] == 0 || !IS_CONFIRMED_HOLD(owner[node], node);
    assert(later_hold_is_spared);
    owner[node] = 0;
    count[node] = 0
}

#if READERS
inline delete_entry(a, node) {
    later_hold_is_spared = ENTRY(a, node) == 0 || !IS_CONFIRMED_HOLD(a, node);
    assert(later_hold_is_spared);
    ENTRY(a, node) = 0
}

#if defined(ENTRIES_KEPT)
#define IS_FORCED_ENTRY(a, node) false
#elif defined(ENTRIES_DELETED)
#define IS_FORCED_ENTRY(a, node) true
#else
#define IS_FORCED_ENTRY(a, node) (ENTRY(a, node) < limit)
#endif

inline delete_entries(node) {
    if
    :: counter[node] < limit || IS_FORCED_ENTRY(1, node) -> delete_entry(1, node)
    :: else
    fi;
    if
    :: counter[node] < limit || IS_FORCED_ENTRY(2, node) -> delete_entry(2, node)
    :: else
    fi
}
#else
#define delete_entries(node) skip
#endif

inline force(node) {
#if defined(RAISED_LOCALLY)
    limit = counter[node] + 1;
#endif
    delete_entries(node);
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
#if READERS
#ifdef APART
        counter[0] = 3;
#else
        counter[0] = 1;
#endif
        counter[1] = 1;
        counter[2] = 1;
#endif
        do
        :: i <= ACQUIRES -> run Acquire(i); i++
        :: else -> break
        od;
        i = 0;
        run Force()
    }
}
