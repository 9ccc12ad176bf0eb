// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Fencing tokens over failovers with Redis Sentinel, with asynchronous replication and without any
// clock. docs/contributing/models.md describes the model.
//
// Two servers, three Sentinels, two clients. A server's data is the counter of one lock's tokens,
// with the epoch in its upper bits. Any acquire may succeed: a lease may have ended, or the lock
// may be lost, so the model has no exclusion.
//
// holds  two_failovers
// holds  three_failovers -DFAILOVERS=3 -DACQUIRES=3
// breaks no_epoch newest_token_is_the_largest -DNO_EPOCH
// breaks old_master old_masters_token_is_smaller -DNO_EPOCH -DNOTHING_LOST -DOLD_MASTER_ONLY
// breaks unconfirmed newest_token_is_the_largest -DUNCONFIRMED
// breaks one_sentinel newest_token_is_the_largest -DONE_SENTINEL
// breaks epoch_asked_once newest_token_is_the_largest -DEPOCH_ASKED_ONCE
// breaks kept_connections newest_token_is_the_largest -DKEPT_CONNECTIONS
// limit  forced_twice newest_token_is_the_largest -DFORCED

#ifndef FAILOVERS
#define FAILOVERS 2
#endif
#ifndef ACQUIRES
#define ACQUIRES 3
#endif
#define CLIENTS 2
#define SENTINELS 3

#define SPAN 8  // stands for 2^47: no counter of an epoch reaches the next epoch
#define TOKEN_BASE(epoch) ((epoch) * SPAN)
#define FIRST_EPOCH 1

// The servers.
bool is_master[2];
byte fence[2];         // the counter of tokens: _token.lua

// The connection of each client.
#define IDLE 0
#define CONNECTED 1
#define EPOCH_KNOWN 2
#define ASKED 3
#define VOTED 4
#define READY 5
byte state[CLIENTS];
byte server[CLIENTS];
byte epoch[CLIENTS];
byte asked[CLIENTS];  // the Sentinel of the first answer

// The configuration of each Sentinel.
byte named_master[SENTINELS];
byte named_epoch[SENTINELS];
byte last_epoch = FIRST_EPOCH;  // a majority votes for each epoch once

// Not part of the system.
#define ERAS (FAILOVERS + 1)
byte era[2];
byte failovers;
#include "_token_order.pml"

inline end_connection(c) {
    state[c] = IDLE;
    server[c] = 0;
    epoch[c] = 0;
    asked[c] = 0
}

inline end_connections(changed) {
#ifdef UNCONFIRMED
#define IS_CONNECTED(c) (state[c] == READY)
#else
#define IS_CONNECTED(c) (state[c] != IDLE)
#endif
#ifdef KEPT_CONNECTIONS
    skip
#else
    if
    :: IS_CONNECTED(0) && server[0] == changed -> end_connection(0)
    :: else
    fi;
    if
    :: IS_CONNECTED(1) && server[1] == changed -> end_connection(1)
    :: else
    fi
#endif
}

inline next_token(at, known_epoch) {
    fence[at]++;
#ifndef NO_EPOCH
    if
    :: fence[at] <= TOKEN_BASE(known_epoch) -> fence[at] = TOKEN_BASE(known_epoch) + 1
    :: else
    fi
#endif
}

inline pick_server(s) {
    if
    :: s = 0
    :: s = 1
    fi
}

inline pick_sentinel(s) {
    if
    :: s = 0
    :: s = 1
    :: s = 2
    fi
}

#define AGREES(s, server, epoch) (named_master[s] == server && named_epoch[s] == epoch)

// A failover is led by a Sentinel, and a majority votes for it. A Sentinel votes only if the old
// master is the master that it names, too.
#ifdef FORCED
#define HAS_VOTES(s) true
#else
#define HAS_VOTES(s) \
    (AGREES(0, named_master[s], named_epoch[s]) + AGREES(1, named_master[s], named_epoch[s]) + \
     AGREES(2, named_master[s], named_epoch[s]) >= 2)
#endif

#define LEAD(s, may_lead) \
    atomic { \
        may_lead && failovers < FAILOVERS && IS_OPEN && HAS_VOTES(s) && \
            !is_master[1 - named_master[s]] -> \
        failovers++; \
        leader = s; \
        promoted = 1 - named_master[s]; \
        last_epoch++; \
        new_epoch = last_epoch \
    }

// The Sentinels are alike, so the first leader is Sentinel 0.
proctype Failover() {
    byte leader;
    byte promoted;
    byte new_epoch;
    end:
    do
    :: if
       :: LEAD(0, true)
       :: LEAD(1, failovers > 0)
       :: LEAD(2, failovers > 0)
       fi;
       // SLAVEOF NO ONE and CLIENT KILL in one transaction.
       atomic {
           if
           :: !is_master[promoted] ->
              is_master[promoted] = true;
#ifdef NOTHING_LOST
              fence[promoted] = fence[1 - promoted];
#endif
              era[promoted] = new_epoch;
              end_connections(promoted)
           :: else  // another Sentinel has interfered
           fi
       };
       atomic {
           named_master[leader] = promoted;
           named_epoch[leader] = new_epoch;
           leader = 0;
           promoted = 0;
           new_epoch = 0
       }
    od
}

#define ADOPT(s, other) \
    atomic { \
        IS_OPEN && named_epoch[s] > named_epoch[other] -> \
        named_master[other] = named_master[s]; \
        named_epoch[other] = named_epoch[s] \
    }

// The Sentinel makes a replica of a master that it does not name.
#define DEMOTE(s) \
    atomic { \
        IS_OPEN && is_master[0] && is_master[1] -> \
        is_master[1 - named_master[s]] = false; \
        end_connections(1 - named_master[s]) \
    }

#define REPLICATE(from, to) \
    atomic { \
        IS_OPEN && !is_master[to] && is_master[from] && fence[to] != fence[from] -> \
        fence[to] = fence[from] \
    }

proctype Gossip() {
    end:
    do
    :: ADOPT(0, 1)
    :: ADOPT(0, 2)
    :: ADOPT(1, 0)
    :: ADOPT(1, 2)
    :: ADOPT(2, 0)
    :: ADOPT(2, 1)
    :: DEMOTE(0)
    :: DEMOTE(1)
    :: DEMOTE(2)
    :: REPLICATE(0, 1)
    :: REPLICATE(1, 0)
    od
}

// In the client, `next` votes before the connection, and `confirm` after the handshake. The model
// has no vote before the connection: the client may connect to any server, and ends the connection
// if the vote does not confirm it. The two Sentinels of the vote, a majority, are asked one after
// the other; the epoch of the first answer becomes the connection's.
proctype Client(byte c) {
    byte s;
    byte i;
    end:
    do
    :: atomic {
           state[c] == IDLE && IS_OPEN && (is_master[0] || is_master[1]) ->
#ifdef UNCONFIRMED
           pick_server(server[c]);
#else
           // HELLO answers that the server is a master: reconnecting_link::find_objection.
           if
           :: is_master[0] -> server[c] = 0
           :: is_master[1] -> server[c] = 1
           fi;
#endif
           state[c] = CONNECTED
       }
#ifdef EPOCH_ASKED_ONCE
    :: atomic {
           state[c] == CONNECTED ->
           pick_sentinel(asked[c]);
           epoch[c] = named_epoch[asked[c]];
           state[c] = EPOCH_KNOWN
       }
    :: atomic {
           state[c] == EPOCH_KNOWN ->
           if
           :: named_master[asked[c]] == server[c] -> state[c] = ASKED
           :: else -> end_connection(c)
           fi
       }
    :: atomic {
           state[c] == ASKED ->
           pick_sentinel(s);
           if
           :: s != asked[c] && named_epoch[s] == epoch[c] -> asked[c] = s; state[c] = VOTED
           :: else -> end_connection(c)
           fi;
           s = 0
       }
    :: atomic {
           state[c] == VOTED ->
           if
           :: named_master[asked[c]] == server[c] -> state[c] = READY; asked[c] = 0
           :: else -> end_connection(c)
           fi
       }
#else
    :: atomic {
           state[c] == CONNECTED ->
           pick_sentinel(asked[c]);
           epoch[c] = named_epoch[asked[c]];
           if
           :: named_master[asked[c]] == server[c] -> state[c] = ASKED
           :: else -> end_connection(c)
           fi
       }
    :: atomic {
           state[c] == ASKED ->
#ifndef ONE_SENTINEL
           if
           :: asked[c] != 0 -> s = 0
           :: asked[c] != 1 -> s = 1
           :: asked[c] != 2 -> s = 2
           fi;
#else
           s = asked[c];
#endif
           if
#ifdef UNCONFIRMED
           :: AGREES(s, server[c], epoch[c]) -> state[c] = VOTED; asked[c] = 0
#else
           :: AGREES(s, server[c], epoch[c]) -> state[c] = READY; asked[c] = 0
#endif
           :: else -> end_connection(c)
           fi;
           s = 0
       }
    :: atomic { state[c] == VOTED && is_master[server[c]] -> state[c] = READY }
#endif
    :: atomic {
           state[c] == READY && is_master[server[c]] && IS_OPEN ->
           acquires++;
           next_token(server[c], epoch[c]);
           check_token(server[c], fence[server[c]])
       }
    :: atomic { state[c] != IDLE -> end_connection(c) }
    od
}

init {
    atomic {
        byte i;
        do
        :: i < SENTINELS -> named_epoch[i] = FIRST_EPOCH; i++
        :: else -> break
        od;
        is_master[0] = true;
        era[0] = FIRST_EPOCH;
        run Failover();
        run Gossip();
        run Client(0);
        run Client(1);
        i = 0
    }
}
