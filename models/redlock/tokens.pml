// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Fencing tokens of one lock over a majority of three or five independent servers, without any
// clock.
// docs/contributing/models.md describes the model.
//
// A key may vanish at any instant. So a request that finds another owner's key may find it gone,
// and the model needs no request that releases. A counter may vanish LOSSES times, and then counts
// from the node's highest counter, which OTHERS acquires of other locks raise. Requests and replies
// are lost, and with -DLATE a request whose reply was lost may be executed at any later time.
//
// holds  two_acquires -DOTHERS=1 -DLOSSES=1
// holds  renewals -DRENEW
// holds  late_requests -DRENEW -DLATE
// long   five_nodes -DNODES=5
// breaks no_confirmation tokens_are_distinct -DNO_CONFIRMATION
// breaks order_unconfirmed later_token_is_larger -DOTHERS=1 -DNO_CONFIRMATION -DORDER_ONLY
// breaks confirmed_unseen tokens_are_distinct -DACQUIRES=3 -DCONFIRM_ALWAYS
// breaks confirmed_by_owner tokens_are_distinct -DSENT_TWICE -DCONFIRM_BY_OWNER
// breaks highest_not_raised tokens_are_distinct -DLOSSES=1 -DHIGHEST_NOT_RAISED
// breaks counter_from_zero tokens_are_distinct -DLOSSES=1 -DCOUNTER_FROM_ZERO
// breaks renewed_by_owner renewal_has_newest_token -DRENEW -DLATE -DRENEW_BY_OWNER
// breaks heal_without_counter renewal_has_newest_token -DRENEW -DHEAL_ALWAYS

#ifndef ACQUIRES
#define ACQUIRES 2
#endif
#ifndef OTHERS
#define OTHERS 0
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#ifndef NODES
#define NODES 3
#endif
#define MAJORITY (NODES / 2 + 1)
#define ALL_NODES ((1 << NODES) - 1)  // as a set of bits
#define ACQUIRE_OF(request) ((request) / NODES)
#define NODE_OF(request) ((request) % NODES)

// Each node: the key of the lock, which is OWNER:COUNT, its counter, and the highest counter of all
// locks.
byte owner[NODES];
byte count[NODES];
byte counter[NODES];
byte highest[NODES];
#if defined(LATE) || defined(SENT_TWICE)
bool late_acquire[(ACQUIRES + 1) * NODES];
bool late_renewal[(ACQUIRES + 1) * NODES];
#endif

// Not part of the system.
byte began;
byte newest_token;  // of the acquires that have ended
byte token_of[ACQUIRES + 1];
bool is_used[32];
byte others;
byte losses;
hidden byte next;

// The properties. Each is true, or the search ends.
hidden byte tokens_are_distinct;
hidden byte later_token_is_larger;
hidden byte renewal_has_newest_token;

#ifdef COUNTER_FROM_ZERO
#define COUNTER(node) counter[node]
#else
#define COUNTER(node) (counter[node] > 0 -> counter[node] : highest[node])
#endif

inline raise_counter(node, number) {
    counter[node] = number;
    if
    :: number > highest[node] -> highest[node] = number
    :: else
    fi
}

// The key of an earlier hold has vanished.
inline grant(acquirer, node) {
    next = COUNTER(node) + 1;
    raise_counter(node, next);
    owner[node] = acquirer;
    count[node] = counter[node]
}

inline raise_to(node, token) {
    if
    :: COUNTER(node) < token -> raise_counter(node, token)
    :: else
    fi
}

#if defined(CONFIRM_ALWAYS)
#define CAN_CONFIRM(a, node, granted) (granted > 0)
#elif defined(CONFIRM_BY_OWNER)
#define CAN_CONFIRM(a, node, granted) (owner[node] == a)
#else
#define CAN_CONFIRM(a, node, granted) (owner[node] == a && count[node] == granted)
#endif

inline confirm(node, token) {
#ifdef HIGHEST_NOT_RAISED
    if
    :: COUNTER(node) < token -> counter[node] = token
    :: else
    fi
#else
    raise_to(node, token)
#endif
}

#ifdef RENEW_BY_OWNER
#define CAN_RENEW(a, node, token) (owner[node] == a)
#else
#define CAN_RENEW(a, node, token) (owner[node] == a && count[node] <= token)
#endif
#ifdef HEAL_ALWAYS
#define CAN_HEAL(node, token) true
#else
#define CAN_HEAL(node, token) (COUNTER(node) <= token)
#endif

inline heal(a, node, token) {
    raise_to(node, token);
    owner[node] = a;
    count[node] = token
}

inline pick_node(node, asked) {
    if
    :: (asked & 1) == 0 -> node = 0
    :: (asked & 2) == 0 -> node = 1
    :: (asked & 4) == 0 -> node = 2
#if NODES > 3
    :: (asked & 8) == 0 -> node = 3
    :: (asked & 16) == 0 -> node = 4
#endif
    fi;
    asked = asked | (1 << node)
}

inline forget_grants() {
    granted[0] = 0;
    granted[1] = 0;
    granted[2] = 0;
#if NODES > 3
    granted[3] = 0;
    granted[4] = 0
#endif
}

proctype Acquire(byte a) {
    byte granted[NODES];  // the count of each node that granted it
    byte asked;           // a set of nodes
    byte node;
    byte votes;
    byte token;
    byte newest_before;
    atomic {
        began == a - 1;
        began = a;
        newest_before = newest_token
    };
    do
    :: atomic {
           asked != ALL_NODES ->
           // Five nodes get their numbers in the order in which the first acquire asks them.
           if
           :: NODES > 3 && a == 1 ->
              do
              :: ((asked >> node) & 1) == 1 -> node++
              :: else -> break
              od;
              asked = asked | (1 << node)
           :: else -> pick_node(node, asked)
           fi;
           if
           :: grant(a, node); granted[node] = counter[node]
           :: grant(a, node)  // the reply is lost
           :: true            // the lock is taken, or the request is lost
#ifdef LATE
           :: late_acquire[a * NODES + node] = true
#endif
#ifdef SENT_TWICE
           :: grant(a, node); granted[node] = counter[node]; late_acquire[a * NODES + node] = true
#endif
           fi;
           node = 0
       }
    :: atomic {
           asked == ALL_NODES ->
           do
           :: node < NODES ->
              if
              :: granted[node] > 0 -> votes++
              :: else
              fi;
              if
              :: granted[node] > token -> token = granted[node]
              :: else
              fi;
              node++
           :: else -> break
           od;
           if
           :: votes < MAJORITY -> goto ended
           :: else
           fi;
#ifndef NO_CONFIRMATION
           // The nodes that granted the largest count need no confirmation.
           votes = 0;
           asked = 0;
           node = 0;
           do
           :: node < NODES ->
              if
              :: granted[node] == token -> votes++; asked = asked | (1 << node)
              :: granted[node] == 0 -> asked = asked | (1 << node)
              :: else
              fi;
              node++
           :: else -> break
           od;
#endif
           node = 0;
           break
       }
    od;
    do
    :: atomic { votes >= MAJORITY -> break }
    :: atomic { votes < MAJORITY && asked == ALL_NODES -> goto ended }
    :: atomic {
           votes < MAJORITY && asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: CAN_CONFIRM(a, node, granted[node]) -> confirm(node, token); votes++
           :: CAN_CONFIRM(a, node, granted[node]) -> confirm(node, token)  // the reply is lost
           :: true                                                         // the request is lost
           fi;
           node = 0
       }
    od;
    atomic {
        later_token_is_larger = token > newest_before;
        assert(later_token_is_larger);
        tokens_are_distinct = !is_used[token];
#ifndef ORDER_ONLY
        assert(tokens_are_distinct);
#endif
        is_used[token] = true;
        if
        :: token > newest_token -> newest_token = token
        :: else
        fi;
        token_of[a] = token;
        asked = 0;
        votes = 0;
        newest_before = 0;
        forget_grants()
    };
#ifdef RENEW
    atomic { newest_before = newest_token };
    do
    :: atomic {
           asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: CAN_RENEW(a, node, token) -> raise_to(node, token); votes++
           :: CAN_HEAL(node, token) -> heal(a, node, token); votes++
           :: CAN_HEAL(node, token) -> heal(a, node, token)  // the reply is lost
           :: true
#ifdef LATE
           :: late_renewal[a * NODES + node] = true
#endif
           fi;
           node = 0
       }
    :: atomic {
           asked == ALL_NODES ->
           renewal_has_newest_token = votes < MAJORITY || newest_before <= token;
           assert(renewal_has_newest_token);
           break
       }
    od;
#endif
    ended:
    atomic {
        asked = 0;
        node = 0;
        votes = 0;
        token = 0;
        newest_before = 0;
        forget_grants()
    }
}

#if OTHERS > 0 || LOSSES > 0
#define OTHER_LOCK(node) \
    atomic { others < OTHERS -> others++; highest[node] = highest[node] + 1 + others % 2 }
#define LOSE_COUNTER(node) \
    atomic { losses < LOSSES && counter[node] > 0 -> losses++; counter[node] = 0 }

proctype Others() {
    end:
    do
    :: OTHER_LOCK(0)
    :: OTHER_LOCK(1)
    :: OTHER_LOCK(2)
    :: LOSE_COUNTER(0)
    :: LOSE_COUNTER(1)
    :: LOSE_COUNTER(2)
    od
}
#endif

#if defined(LATE) || defined(SENT_TWICE)
// Executes a late request, or another one first.
proctype Late(byte request) {
    end:
    do
    :: atomic {
           late_acquire[request] ->
           late_acquire[request] = false;
           grant(ACQUIRE_OF(request), NODE_OF(request))
       }
    :: atomic {
           late_renewal[request] ->
           late_renewal[request] = false;
           if
           :: CAN_RENEW(ACQUIRE_OF(request), NODE_OF(request), token_of[ACQUIRE_OF(request)]) ->
              raise_to(NODE_OF(request), token_of[ACQUIRE_OF(request)])
           :: CAN_HEAL(NODE_OF(request), token_of[ACQUIRE_OF(request)]) ->
              heal(ACQUIRE_OF(request), NODE_OF(request), token_of[ACQUIRE_OF(request)])
           :: else
           fi
       }
    od
}
#endif

init {
    atomic {
        byte i = 1;
        do
        :: i <= ACQUIRES -> run Acquire(i); i++
        :: else -> break
        od;
#if OTHERS > 0 || LOSSES > 0
        run Others();
#endif
#if defined(LATE) || defined(SENT_TWICE)
        i = NODES;
        do
        :: i < (ACQUIRES + 1) * NODES -> run Late(i); i++
        :: else -> break
        od;
#endif
        i = 0
    }
}
