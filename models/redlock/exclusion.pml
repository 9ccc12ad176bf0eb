// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Exclusion over a majority of three independent servers. One clock ticks for all leases and all
// clients. docs/contributing/models.md describes the model.
//
// Two clients make up to ACQUIRES acquires in all, each with a new owner, and renew each hold up to
// RENEWALS times. A renewal sets a key that is missing. With -DLATE an acquire or a renewal whose
// reply was lost may be executed at any later time. With LOSSES, single keys vanish, as long as the
// hold keeps a majority. With -DFORGET all nodes lose their data once, and refuse all requests
// until an operator starts a new set, at the earliest when each has run for a ttl. With
// -DQUARANTINE the new set grants nothing for another ttl. With -DKEPT_ANSWERS an answer counts
// beside those of later rounds, for a hold that lasts from the oldest request whose answer counts;
// only client 0 renews.
//
// holds  renewals
// holds  lost_keys -DLOSSES=1
// long   three_acquires -DACQUIRES=3 -DRENEWALS=1
// holds  late_acquires -DLATE -DRENEWALS=0
// holds  new_set_by_uptime -DFORGET -DRENEWALS=1
// holds  answers_kept -DKEPT_ANSWERS
// holds  new_set_in_quarantine -DFORGET -DFLUSHED -DQUARANTINE -DRENEWALS=1
// breaks counted_from_reply one_believer -DCOUNTED_FROM_REPLY
// breaks answers_of_two_rounds one_believer -DANSWERS_OF_TWO_ROUNDS
// breaks new_set_at_once one_believer -DFORGET -DAT_ONCE
// breaks new_set_after_flush one_believer -DFORGET -DFLUSHED
// limit  majority_lost one_believer -DLOSSES=1 -DANY_LOSS

#ifndef ACQUIRES
#define ACQUIRES 2
#endif
#ifndef RENEWALS
#define RENEWALS 2
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#define NODES 3
#define MAJORITY 2
#define ALL_NODES 7  // as a set of bits
#define TTL 2

// Each node: the owner of the key, and the ticks until it ends.
byte owner[NODES];
byte left[NODES];

// Each client: the request that is under way, and the hold.
byte attempt[2];    // the present owner; 0: none
bool is_asking[2];
byte asked[2];      // a set of nodes
byte votes[2];
byte elapsed[2];    // the ticks since the first node was asked
#ifdef KEPT_ANSWERS
byte age[NODES] = TTL;  // of client 0's requests: the ticks since they were sent; TTL: no answer
#endif
byte believed[2];   // the ticks until the client's deadline; 0: it holds nothing
byte renewals[2];

byte owners;
byte losses;
#ifdef LATE
bool late_acquire[(ACQUIRES + 1) * NODES];
bool late_renewal[(ACQUIRES + 1) * NODES];
#endif
#ifdef FORGET
bool was_lost;
bool is_unborn;
byte uptime = TTL;
byte quarantine;
#define IS_OPEN (!is_unborn && quarantine == 0)
#else
#define IS_OPEN true
#endif

// The properties. Each is true, or the search ends.
hidden byte one_believer;

inline check_believers() {
    one_believer = believed[0] == 0 || believed[1] == 0;
    assert(one_believer)
}

inline pick_node(node, c) {
    if
    :: (asked[c] & 1) == 0 -> node = 0
    :: (asked[c] & 2) == 0 -> node = 1
    :: (asked[c] & 4) == 0 -> node = 2
    fi;
    asked[c] = asked[c] | (1 << node)
}

inline set_key(node, new_owner) {
    owner[node] = new_owner;
    left[node] = TTL
}

inline begin(c) {
    is_asking[c] = true;
    elapsed[c] = 0
}

inline end_round(c) {
    is_asking[c] = false;
    asked[c] = 0;
    elapsed[c] = 0;
#ifdef ANSWERS_OF_TWO_ROUNDS
    skip
#else
    votes[c] = 0
#endif
}

#ifdef KEPT_ANSWERS
#define COUNT_VOTE(c, node) \
    votes[c]++; \
    age[node] = ((c) == 0 -> 0 : age[node])
#define OLDER(one, two) ((one) > (two) -> (one) : (two))
#define YOUNGER(one, two) ((one) < (two) -> (one) : (two))
// The second youngest of three: the oldest answer of the youngest majority.
#define SECOND \
    OLDER(YOUNGER(age[0], age[1]), YOUNGER(OLDER(age[0], age[1]), age[2]))
#define ELAPSED(c) ((c) == 0 -> SECOND : elapsed[c])
#define HAS_MAJORITY(c) ((c) == 0 || votes[c] >= MAJORITY)
#define MAY_RENEW(c) ((c) == 0)
#else
#define COUNT_VOTE(c, node) votes[c]++
#define ELAPSED(c) elapsed[c]
#define HAS_MAJORITY(c) (votes[c] >= MAJORITY)
#define MAY_RENEW(c) true
#endif

inline forget_answers(c) {
#ifdef KEPT_ANSWERS
    if
    :: c == 0 ->
       age[0] = TTL;
       age[1] = TTL;
       age[2] = TTL
    :: else
    fi
#else
    skip
#endif
}

inline give_up(c) {
    forget_answers(c);
    believed[c] = 0;
    attempt[c] = 0;
    renewals[c] = 0;
    votes[c] = 0
}

#define HAS_KEY(c, node) (owner[node] == attempt[c] && left[node] > 0)
#define MAY_SET(node) (left[node] == 0 && IS_OPEN)

proctype Client(byte c) {
    byte node;
    bool is_renewal;
    end:
    do
    :: atomic {
           believed[c] == 0 && !is_asking[c] && owners < ACQUIRES ->
           owners++;
           attempt[c] = owners;
           renewals[c] = 0;
           votes[c] = 0;
           is_renewal = false;
           begin(c)
       }
    :: atomic {
           believed[c] > 0 && !is_asking[c] && renewals[c] < RENEWALS && MAY_RENEW(c) ->
           renewals[c]++;
           is_renewal = true;
           begin(c)
       }
    :: atomic { believed[c] > 0 && !is_asking[c] -> give_up(c) }
    :: atomic {
           is_asking[c] && asked[c] != ALL_NODES ->
           pick_node(node, c);
           if
           :: MAY_SET(node) -> set_key(node, attempt[c]); COUNT_VOTE(c, node)
           :: MAY_SET(node) -> set_key(node, attempt[c])  // the reply is lost
           :: is_renewal && HAS_KEY(c, node) -> left[node] = TTL; COUNT_VOTE(c, node)
           :: is_renewal && HAS_KEY(c, node) -> left[node] = TTL
           :: true  // refused, or the request is lost
#ifdef LATE
           :: !is_renewal -> late_acquire[attempt[c] * NODES + node] = true
           :: is_renewal -> late_renewal[attempt[c] * NODES + node] = true
#endif
           fi;
           node = 0
       }
    :: atomic {
           is_asking[c] && asked[c] == ALL_NODES ->
           if
#ifdef COUNTED_FROM_REPLY
           :: votes[c] >= MAJORITY -> believed[c] = TTL
#else
           :: HAS_MAJORITY(c) && ELAPSED(c) < TTL && (!is_renewal || believed[c] > 0) ->
              believed[c] = (TTL - ELAPSED(c) > believed[c] -> TTL - ELAPSED(c) : believed[c])
#endif
           :: else
           fi;
           check_believers();
           is_renewal = false;
           end_round(c);
           if
           :: believed[c] == 0 -> give_up(c)
           :: else
           fi
       }
    od
}

// Of an owner that is gone: its release, perhaps a late one, may delete the key at any time.
#define IS_PRESENT(c, x) (attempt[c] == (x) && (is_asking[c] || believed[c] > 0))
#define RELEASE(node) \
    atomic { \
        owner[node] != 0 && !IS_PRESENT(0, owner[node]) && !IS_PRESENT(1, owner[node]) -> \
        owner[node] = 0; \
        left[node] = 0 \
    }

// The hold keeps a majority of keys that last until its deadline.
#define LASTS(c, node) (owner[node] == attempt[c] && left[node] >= believed[c])
#define IS_COVERED(c, one, two) (believed[c] == 0 || LASTS(c, one) + LASTS(c, two) >= MAJORITY)
#ifdef ANY_LOSS
#define MAY_LOSE(one, two) true
#else
#define MAY_LOSE(one, two) \
    (!is_asking[0] && !is_asking[1] && IS_COVERED(0, one, two) && IS_COVERED(1, one, two))
#endif
#define LOSE(node, one, two) \
    atomic { \
        losses < LOSSES && owner[node] != 0 && MAY_LOSE(one, two) -> \
        losses++; \
        owner[node] = 0; \
        left[node] = 0 \
    }

inline count_down(ticks) {
    if
    :: ticks > 0 -> ticks--
    :: else
    fi
}

inline tick_node(node) {
    count_down(left[node]);
    if
    :: left[node] == 0 -> owner[node] = 0
    :: else
    fi
}

inline tick_client(c) {
    count_down(believed[c]);
    if
    :: believed[c] == 0 && !is_asking[c] -> give_up(c)
    :: is_asking[c] && elapsed[c] < TTL -> elapsed[c]++
    :: else
    fi
}

#ifdef KEPT_ANSWERS
inline grow_old(node) {
    if
    :: age[node] < TTL -> age[node]++
    :: else
    fi
}
#endif

proctype World() {
    end:
    do
    :: atomic {
           tick_node(0);
           tick_node(1);
           tick_node(2);
           tick_client(0);
           tick_client(1);
#ifdef KEPT_ANSWERS
           grow_old(0);
           grow_old(1);
           grow_old(2);
#endif
#ifdef FORGET
           if
           :: uptime < TTL -> uptime++
           :: else
           fi;
           count_down(quarantine)
#endif
       }
    :: RELEASE(0)
    :: RELEASE(1)
    :: RELEASE(2)
#if LOSSES > 0
    :: LOSE(0, 1, 2)
    :: LOSE(1, 0, 2)
    :: LOSE(2, 0, 1)
#endif
#ifdef FORGET
    :: atomic {
           !was_lost ->
           was_lost = true;
           is_unborn = true;
           owner[0] = 0;
           owner[1] = 0;
           owner[2] = 0;
           left[0] = 0;
           left[1] = 0;
           left[2] = 0;
#ifndef FLUSHED
           uptime = 0
#endif
       }
    :: atomic {
#ifdef AT_ONCE
           is_unborn ->
#else
           is_unborn && uptime >= TTL ->
#endif
           is_unborn = false;
#ifdef QUARANTINE
           quarantine = TTL
#endif
       }
#endif
    od
}

#ifdef LATE
proctype Late(byte request) {
    end:
    do
    :: atomic {
           late_acquire[request] ->
           late_acquire[request] = false;
           if
           :: MAY_SET(request % NODES) -> set_key(request % NODES, request / NODES)
           :: else
           fi
       }
    :: atomic {
           late_renewal[request] ->
           late_renewal[request] = false;
           if
           :: MAY_SET(request % NODES) -> set_key(request % NODES, request / NODES)
           :: owner[request % NODES] == request / NODES -> left[request % NODES] = TTL
           :: else
           fi
       }
    od
}
#endif

init {
    atomic {
#ifdef LATE
        byte i = NODES;
        do
        :: i < (ACQUIRES + 1) * NODES -> run Late(i); i++
        :: else -> break
        od;
        i = 0;
#endif
        run Client(0);
        run Client(1);
        run World()
    }
}
