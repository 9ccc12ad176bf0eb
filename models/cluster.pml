// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Fencing tokens over failovers and moves of a slot in a Redis Cluster, with asynchronous
// replication and without any clock. docs/contributing/models.md describes the model.
//
// One slot. Nodes 0 and 1 are a master and its replica, in either role; node 2 is another master,
// which may import the slot and give it back. Any acquire may succeed, as in failover.pml.
//
// holds  epoch_of_server
// holds  keys_lost_on_move -DKEYS_LOST
// breaks no_epoch newest_token_is_the_largest -DNO_EPOCH
// holds  map_without_return -DEPOCH_OF_MAP -DCHANGES=1
// breaks old_master old_masters_token_is_smaller -DNO_EPOCH -DOLD_MASTER_ONLY
// holds  map_asked_between_changes -DEPOCH_OF_MAP -DASKED_BETWEEN_CHANGES
// holds  replication_compared -DEPOCH_OF_MAP -DREPLICATION_COMPARED -DASKED_BEFORE_RETURN
// limit  slot_returns newest_token_is_the_largest -DEPOCH_OF_MAP -DREPLICATION_COMPARED
// breaks epoch_of_map newest_token_is_the_largest -DEPOCH_OF_MAP
// breaks counter_apart newest_token_is_the_largest -DEPOCH_OF_MAP -DCOUNTER_APART -DCHANGES=1
// breaks import_keeps_epoch newest_token_is_the_largest -DKEYS_LOST -DIMPORT_KEEPS_EPOCH
// limit  takeover newest_token_is_the_largest -DTAKEOVER

#ifndef CHANGES
#define CHANGES 4
#endif
#ifndef ACQUIRES
#define ACQUIRES 4
#endif
#define NODES 3
#define CLIENTS 2

#define SPAN 16  // stands for 2^47: no counter of an epoch reaches the next epoch
#define TOKEN_BASE(epoch) ((epoch) * SPAN)

bool is_owner[NODES];     // the node believes that the slot is its own
byte fence[NODES];        // the counter of tokens: _token.lua
#ifdef COUNTER_APART
byte counter[NODES];
#endif
byte node_epoch[NODES];   // the config epoch that the node knows to be its own
byte last_epoch;
#ifdef REPLICATION_COMPARED
byte promotions[NODES];   // stands for the replication id
byte seen[CLIENTS];       // of the client's node, asked before its epoch
#endif
byte master_of_pair;      // 0 or 1

// Of each client: the node to which it sends the slot's requests, and the epoch that it believes.
bool is_known[CLIENTS];
byte node[CLIENTS];
byte epoch[CLIENTS];

// Not part of the system. A new era begins when the slot gets another owner.
#define ERAS (CHANGES + 1)
byte era[NODES];
byte owner;  // the newest owner
byte changes;
#include "_token_order.pml"

inline next_token(at, known_epoch) {
#ifdef COUNTER_APART
    counter[at]++;
    fence[at] = TOKEN_BASE(known_epoch) + counter[at]
#else
    fence[at]++;
#ifndef NO_EPOCH
    if
    :: fence[at] <= TOKEN_BASE(known_epoch) -> fence[at] = TOKEN_BASE(known_epoch) + 1
    :: else
    fi
#endif
#endif
}

inline begin_era(n) {
    changes++;
    era[n] = changes + 1;
    owner = n;
    is_owner[n] = true
}

#define REPLICA (1 - master_of_pair)

#ifdef ASKED_BETWEEN_CHANGES
#define HAS_HEARD(c) \
    (!is_known[c] || (node[c] == owner && epoch[c] == node_epoch[owner]))
#define MAY_CHANGE (changes < CHANGES && IS_OPEN && HAS_HEARD(0) && HAS_HEARD(1))
#else
#define MAY_CHANGE (changes < CHANGES && IS_OPEN)
#endif
#ifdef ASKED_BEFORE_RETURN
// No client still sends its requests to the node to which the slot returns.
#define NEXT_OWNER (owner == 2 -> master_of_pair : 2)
#define HAS_LEFT(c) (!is_known[c] || node[c] != NEXT_OWNER)
#define MAY_MOVE (MAY_CHANGE && HAS_LEFT(0) && HAS_LEFT(1))
#else
#define MAY_MOVE MAY_CHANGE
#endif

proctype Nodes() {
    byte n;
    end:
    do
    // The replica is elected. The old master goes on until it hears of that.
    :: atomic {
           MAY_CHANGE && owner == master_of_pair ->
           master_of_pair = REPLICA;
           last_epoch++;
           node_epoch[master_of_pair] = last_epoch;
#ifdef REPLICATION_COMPARED
           promotions[master_of_pair]++;
#endif
           begin_era(master_of_pair)
       }
#ifdef TAKEOVER
    // An operator promotes the replica without a vote, and the replica has not heard of the newest
    // epochs.
    :: atomic {
           MAY_CHANGE ->
           node_epoch[REPLICA] = node_epoch[master_of_pair] + 1;
           master_of_pair = REPLICA;
           begin_era(master_of_pair)
       }
#endif
    // The slot moves to another master. Usually its keys move before, one after the other.
    :: atomic {
           MAY_MOVE && (owner == 2 || owner == master_of_pair) ->
           n = (owner == 2 -> master_of_pair : 2);
#ifndef KEYS_LOST
           fence[n] = fence[owner];
           is_owner[owner] = false;
#ifdef COUNTER_APART
           counter[n] = counter[owner];
#endif
#endif
#ifndef IMPORT_KEEPS_EPOCH
           if
           :: node_epoch[n] < last_epoch -> last_epoch++; node_epoch[n] = last_epoch
           :: else
           fi;
#endif
           begin_era(n);
           n = 0
       }
    // CLUSTER BUMPEPOCH, or the end of a collision of epochs.
    :: atomic {
           MAY_CHANGE ->
           changes++;
           last_epoch++;
           node_epoch[owner] = last_epoch
       }
    // A node hears that the slot has another owner.
    :: atomic { IS_OPEN && is_owner[0] && owner != 0 -> is_owner[0] = false }
    :: atomic { IS_OPEN && is_owner[1] && owner != 1 -> is_owner[1] = false }
    :: atomic { IS_OPEN && is_owner[2] && owner != 2 -> is_owner[2] = false }
    :: atomic {
           IS_OPEN && !is_owner[REPLICA] && fence[REPLICA] != fence[master_of_pair] ->
           fence[REPLICA] = fence[master_of_pair]
#ifdef COUNTER_APART
           ; counter[REPLICA] = counter[master_of_pair]
#endif
       }
    od
}

proctype Client(byte c) {
    byte i;
    end:
    do
    // CLUSTER NODES, as the owner itself answers it.
    :: atomic {
           !is_known[c] && IS_OPEN ->
           if
           :: is_owner[0] -> node[c] = 0
           :: is_owner[1] -> node[c] = 1
           :: is_owner[2] -> node[c] = 2
           fi;
           is_known[c] = true;
#ifdef REPLICATION_COMPARED
           seen[c] = promotions[node[c]];
#endif
#ifdef EPOCH_OF_MAP
           epoch[c] = node_epoch[node[c]]
#endif
       }
    :: atomic {
           is_known[c] && is_owner[node[c]] && IS_OPEN ->
           acquires++;
#ifndef EPOCH_OF_MAP
           epoch[c] = node_epoch[node[c]];  // the script asks its server
#endif
#ifdef REPLICATION_COMPARED
           if
           :: seen[c] != promotions[node[c]] -> epoch[c] = node_epoch[node[c]]
           :: else
           fi;
#endif
           next_token(node[c], epoch[c]);
           check_token(node[c], fence[node[c]]);
#ifndef EPOCH_OF_MAP
           epoch[c] = 0
#endif
       }
#ifdef EPOCH_OF_MAP
    // The client asks again, as it does every 5 to 10 s.
    :: atomic {
           is_known[c] && is_owner[node[c]] && epoch[c] != node_epoch[node[c]] && IS_OPEN ->
#ifdef REPLICATION_COMPARED
           seen[c] = promotions[node[c]];
#endif
           epoch[c] = node_epoch[node[c]]
       }
#endif
    // MOVED, or the connection has ended.
    :: atomic {
           is_known[c] && IS_OPEN ->
           is_known[c] = false;
           node[c] = 0;
           epoch[c] = 0
       }
    od
}

init {
    atomic {
        is_owner[0] = true;
        era[0] = FIRST_ERA;
        node_epoch[0] = 1;
        node_epoch[2] = 2;
        last_epoch = 2;
        run Nodes();
        run Client(0);
        run Client(1)
    }
}
