// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Genesis: the nodes of a new set become members, without an operator and without any clock.
// docs/contributing/models.md describes the model.
//
// Two clients drive the genesis, the first one in one step. Requests are lost, so a genesis may be
// half done; with -DFINISH another client finishes it with the values that a member has recorded.
// Node 0 loses its memory LOSSES times, and with -DREJOIN joins again; but the set never
// loses its last member. With -DCLOCK a set is running and all nodes may lose their memory, LOSSES
// times in all. A clock that is ahead of every token gives the first counter of the next set then.
//
// long   overlapping -DLOSSES=1
// full   rejoin -DLOSSES=1 -DREJOIN -DIN_TURN
// holds  finished_by_another -DLOSSES=1 -DFINISH -DIN_TURN
// full   clock -DCLOCK -DLOSSES=3
// breaks asked_once later_token_is_larger -DLOSSES=1 -DIN_TURN -DASKED_ONCE
// breaks no_nonce later_token_is_larger -DLOSSES=1 -DIN_TURN -DNO_NONCE
// breaks no_answer_of_one later_token_is_larger -DLOSSES=1 -DIN_TURN -DONE_MAY_BE_SILENT
// breaks finished_without_nonce later_token_is_larger -DLOSSES=1 -DFINISH -DIN_TURN -DANY_LIFE
// breaks clock_read_early tokens_are_distinct -DCLOCK -DLOSSES=3 -DCLOCK_READ_EARLY
// limit  no_clock tokens_are_distinct -DCLOCK -DLOSSES=3 -DCLOCK_STANDS

#ifndef ACQUIRES
#define ACQUIRES 2
#endif
#ifdef IN_TURN
#define MAY_ACQUIRE(a) (was_born && ended == a - 1)
#else
#define MAY_ACQUIRE(a) (was_born && began == a - 1)
#endif
bool was_born;  // some node has been a member; not part of the system
#include "_members.pml"

// Each member: the nonce of node 0 at its genesis.
#ifdef FINISH
byte recorded_life[NODES];
#endif

#if defined(CLOCK) && !defined(CLOCK_STANDS)
inline read_clock() {
    first = 1;
    at_least(first, counter[0]);
    at_least(first, counter[1]);
    at_least(first, counter[2]);
    at_least(first, largest_lost);
    first++
}
#else
inline read_clock() {
    first = 1
}
#endif
byte largest_lost;  // of the counters; not part of the system

#ifdef NO_NONCE
#define IS_PREPARED(node) true
#else
#define IS_PREPARED(node) (life[node] == prepared_life[node])
#endif

inline install(node, life_of_first) {
    is_member[node] = true;
    was_born = true;
    counter[node] = first;
    floor[node] = first;
    known[node] = 1;
    known_life[node] = life_of_first
#ifdef FINISH
    ;
    recorded_life[node] = life_of_first
#endif
}

#define IS_UNBORN (!is_member[0] && !is_member[1] && !is_member[2])

inline install_or_lose(node) {
    if
    :: install(node, life[0])
    :: true
    fi
}

proctype GenesisInOneStep() {
    byte first;
    atomic {
        if
        :: IS_UNBORN ->
           read_clock();
           install_or_lose(0);
           install_or_lose(1);
           install_or_lose(2)
        :: true
        fi;
        first = 0
    }
}

proctype Genesis() {
    byte prepared_life[NODES];
    byte first;
    byte asked;
    byte node;
#ifdef CLOCK_READ_EARLY
    atomic { read_clock() };
#endif
    // Asks each node for the nonce of its memory. Each must be new.
    do
    :: atomic {
           asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: !is_member[node] -> prepared_life[node] = life[node]
#ifdef ONE_MAY_BE_SILENT
           :: node == 2
#endif
           :: is_member[node] -> goto ended_
           fi;
           node = 0
       }
    :: atomic { asked == ALL_NODES -> asked = 0; break }
    od;
#ifndef ASKED_ONCE
    // Asks each node again.
    do
    :: atomic {
           asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: !is_member[node] && life[node] == prepared_life[node]
#ifdef ONE_MAY_BE_SILENT
           :: node == 2
#endif
           :: else -> goto ended_
           fi;
           node = 0
       }
    :: atomic { asked == ALL_NODES -> asked = 0; break }
    od;
#endif
#ifndef CLOCK_READ_EARLY
    atomic { read_clock() };
#endif
    // Makes each node a member, if it has not forgotten its nonce.
    do
    :: atomic {
           asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: !is_member[node] && IS_PREPARED(node) -> install(node, prepared_life[0])
           :: true  // refused, or the request is lost
           fi;
           node = 0
       }
    :: atomic { asked == ALL_NODES -> break }
    od;
    ended_:
    atomic {
        prepared_life[0] = 0;
        prepared_life[1] = 0;
        prepared_life[2] = 0;
        first = 0;
        asked = 0;
        node = 0
    }
}

#ifdef FINISH
#ifdef ANY_LIFE
#define IS_RECORDED(node) true
#else
#define IS_RECORDED(node) ((node) != 0 || life[0] == recorded)
#endif

// Reads the record of the member, then repeats the genesis of all other nodes with it.
proctype Finish(byte member) {
    byte recorded;
    byte first;
    byte asked;
    byte node;
    end:
    atomic {
        is_member[member];
        recorded = recorded_life[member];
        first = 1;
        asked = 1 << member
    };
    do
    :: atomic {
           asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: !is_member[node] && IS_RECORDED(node) -> install(node, recorded)
           :: true
           fi;
           node = 0
       }
    :: atomic { asked == ALL_NODES -> break }
    od;
    atomic {
        recorded = 0;
        first = 0;
        asked = 0;
        node = 0
    }
}
#endif

#ifdef CLOCK
#define MAY_LOSE(node) true
#else
#define MAY_LOSE(node) (!is_member[node] || is_member[0] + is_member[1] + is_member[2] > 1)
#endif
#ifdef IN_TURN
#define IS_TIME_TO_LOSE (ended >= 1 || !was_born)
#else
#define IS_TIME_TO_LOSE true
#endif
#define LOSE(node) \
    atomic { \
        losses < LOSSES && MAY_LOSE(node) && IS_TIME_TO_LOSE -> \
        losses++; \
        lose_memory(node) \
    }

inline lose_memory(node) {
    at_least(largest_lost, counter[node]);
    owner[node] = 0;
    count[node] = 0;
    counter[node] = 0;
    floor[node] = 0;
    known[node] = 0;
    known_life[node] = 0;
    is_member[node] = false;
    life[node]++
#ifdef FINISH
    ;
    recorded_life[node] = 0
#endif
}

proctype Losses() {
    end:
    do
    :: LOSE(0)
#ifdef CLOCK
    :: LOSE(1)
    :: LOSE(2)
#endif
    od
}

init {
    atomic {
        byte i = 1;
        do
        :: i <= ACQUIRES -> run Acquire(i); i++
        :: else -> break
        od;
        i = 0;
#ifdef CLOCK
        was_born = true;
        do
        :: i < NODES ->
           is_member[i] = true;
           counter[i] = 1;
           floor[i] = 1;
           known[i] = 1;
           i++
        :: else -> break
        od;
        i = 0;
        run Genesis();
#else
        run GenesisInOneStep();
        run Genesis();
#endif
#ifdef FINISH
        run Finish(1);
#endif
#ifdef REJOIN
        run Driver(0);
#endif
        run Losses()
    }
}
