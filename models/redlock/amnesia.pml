// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A node loses its memory and joins again, without any clock.
// docs/contributing/models.md describes the model.
//
// Node 0 restarts LOSSES times, and does not vote until some client has made it join again. The
// node comes back empty, or with -DOLD_DATA as it was at any earlier moment. REJOINS clients drive
// the rejoin at the same time. With -DIN_TURN each acquire follows another restart and rejoin. With
// -DFORGETFUL=2 node 1 restarts, too, after node 0 has joined again. Requests are lost, and replies
// also, unless -DREPLIES_ARRIVE says otherwise. READERS says which acquires are of readers, as a
// set of bits. With -DAPART the counter of node 0 has been raised by a writer that got no more.
//
// holds  overlapping -DLOSSES=1
// holds  two_restarts -DLOSSES=2 -DREJOINS=2 -DIN_TURN
// full   old_data -DLOSSES=1 -DOLD_DATA
// full   renewals -DLOSSES=1 -DRENEW
// holds  two_nodes -DLOSSES=1 -DFORGETFUL=2 -DREPLIES_ARRIVE
// holds  reader_first -DLOSSES=1 -DOLD_DATA -DREADERS=2 -DRENEW -DREPLIES_ARRIVE
// holds  writer_first -DLOSSES=1 -DOLD_DATA -DREADERS=4 -DRENEW -DREPLIES_ARRIVE
// holds  reader_apart -DLOSSES=1 -DOLD_DATA -DREADERS=2 -DAPART -DREPLIES_ARRIVE
// long   reader_apart_renewals -DLOSSES=1 -DOLD_DATA -DREADERS=2 -DAPART -DRENEW -DREPLIES_ARRIVE
// long   reader_without_replies -DLOSSES=1 -DOLD_DATA -DREADERS=2 -DRENEW
// breaks not_merged tokens_are_distinct -DLOSSES=1 -DFORGETFUL=2 -DNOT_MERGED
// breaks continues tokens_are_distinct -DLOSSES=1 -DCONTINUES
// breaks no_incarnations tokens_are_distinct -DLOSSES=1 -DNO_INCARNATIONS
// breaks one_counter tokens_are_distinct -DLOSSES=1 -DONE_COUNTER
// breaks counters_first tokens_are_distinct -DLOSSES=1 -DCOUNTERS_FIRST
// breaks late_install later_token_is_larger -DLOSSES=2 -DREJOINS=2 -DIN_TURN -DNO_NONCE
// breaks old_counter tokens_are_distinct -DLOSSES=1 -DOLD_DATA -DNO_FLOOR
// breaks old_key tokens_are_distinct -DLOSSES=1 -DOLD_DATA -DCONFIRM_ANY_LIFE
// breaks old_key_renewed renewal_has_newest_token -DLOSSES=1 -DOLD_DATA -DRENEW -DRENEW_BY_COUNT
// breaks reader_of_old_life reader_is_before_writer -DLOSSES=1 -DREADERS=2 -DAPART -DCONTINUES
// breaks old_entry renewal_has_newest_token -DREADERS=2 -DRENEW -DREPLIES_ARRIVE -DNOT_JOINED

#ifdef NOT_JOINED
#define OLD_DATA
#endif
#ifndef LOSSES
#define LOSSES 1
#endif
#ifndef ACQUIRES
#define ACQUIRES 2
#endif
#ifndef REJOINS
#define REJOINS 1
#endif
#ifdef IN_TURN
#define MAY_ACQUIRE(a) (ended == a - 1 && losses == a && is_member[0])
#else
#define MAY_ACQUIRE(a) (began == a - 1)
#endif

// The properties. Each is true, or the search ends.
hidden byte renewal_has_newest_token;
hidden byte reader_is_before_writer;

#include "_members.pml"

// What the file of node 0 has.
byte saved_owner;
byte saved_count;
byte saved_counter;
#if READERS
byte saved_entry[ACQUIRES + 1];
#endif

bool was_saved;  // not part of the system

#ifdef IN_TURN
#define MAY_RESTART (losses == ended)
#else
#define MAY_RESTART true
#endif

inline lose_memory(node) {
    losses++;
    owner[node] = 0;
    count[node] = 0;
    counter[node] = 0;
#if READERS
    clear_entries(node);
#endif
    floor[node] = 0;
    known[OF(0, node)] = 0;
    known_life[OF(0, node)] = 0;
#if FORGETFUL > 1
    known[OF(1, node)] = 0;
    known_life[OF(1, node)] = 0;
#endif
#ifndef CONTINUES
    is_member[node] = false;
#endif
    life[node]++
}

proctype Restarts() {
    end:
    do
    :: atomic {
           losses < LOSSES && MAY_RESTART ->
           lose_memory(0);
           owner[0] = saved_owner;
           count[0] = saved_count;
           counter[0] = saved_counter;
#if READERS
           ENTRY(1, 0) = saved_entry[1];
           ENTRY(2, 0) = saved_entry[2];
#if ACQUIRES > 2
           ENTRY(3, 0) = saved_entry[3];
#endif
#endif
           skip
       }
#if FORGETFUL > 1
    :: atomic { losses == 1 && is_member[0] -> lose_memory(1) }
#endif
#ifdef OLD_DATA
    :: atomic {
           !was_saved && losses < LOSSES && counter[0] > 0 ->
           was_saved = true;
           saved_owner = owner[0];
           saved_count = count[0];
#if READERS
           saved_entry[1] = ENTRY(1, 0);
           saved_entry[2] = ENTRY(2, 0);
#if ACQUIRES > 2
           saved_entry[3] = ENTRY(3, 0);
#endif
#endif
           saved_counter = counter[0]
       }
#endif
    od
}

init {
    atomic {
        byte i;
        is_member[0] = true;
        is_member[1] = true;
        is_member[2] = true;
        known[OF(0, 0)] = 1;
        known[OF(0, 1)] = 1;
        known[OF(0, 2)] = 1;
#if FORGETFUL > 1
        known[OF(1, 0)] = 1;
        known[OF(1, 1)] = 1;
        known[OF(1, 2)] = 1;
#endif
#if READERS
        floor[0] = 1;
        floor[1] = 1;
        floor[2] = 1;
#ifdef APART
        counter[0] = 2;
#endif
#endif
        do
        :: i < REJOINS -> run Driver(0); i++
        :: else -> break
        od;
#if FORGETFUL > 1
        run Driver(1);
#endif
        i = 1;
        do
        :: i <= ACQUIRES -> run Acquire(i); i++
        :: else -> break
        od;
        i = 0;
        run Restarts()
    }
}
