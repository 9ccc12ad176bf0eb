// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A node gets older data back while it runs, and nobody notices: its memory has the same name. The
// nodes' clocks keep the tokens in order. docs/contributing/models.md describes the model.
//
// Each acquire has a floor, which is what the clocks say when it begins: above every token until
// then, and another one than that of each other acquire. Node 0 gets the data of any earlier moment
// back, ROLL_BACKS times. A key may vanish at any instant, and replies are lost.
//
// With -DFAST_CLOCK the set begins in the model, while one clock is ahead of the others until
// somebody sets it right. The first counters are above that clock. Then the floor is what the other
// clocks say, which know nothing of tokens: they only go forward from acquire to acquire.
//
// holds  two_acquires -DROLL_BACKS=2
// holds  three_in_turn -DROLL_BACKS=1 -DACQUIRES=3 -DIN_TURN
// breaks no_floor tokens_are_distinct -DROLL_BACKS=1 -DNO_FLOOR
// breaks order_without_floor later_token_is_larger -DROLL_BACKS=1 -DNO_FLOOR -DORDER_ONLY
// breaks clock_behind tokens_are_distinct -DROLL_BACKS=1 -DCLOCK_STANDS
// holds  clocks_agree_first -DROLL_BACKS=1 -DFAST_CLOCK
// breaks fast_clock tokens_are_distinct -DROLL_BACKS=1 -DFAST_CLOCK -DANY_CLOCKS
// limit  same_moment tokens_are_distinct -DROLL_BACKS=1 -DSAME_MOMENT

#ifndef ACQUIRES
#define ACQUIRES 2
#endif
#ifndef ROLL_BACKS
#define ROLL_BACKS 1
#endif

#define AHEAD 10

#include "_quorum.pml"

// Each node: the key of the lock, which is OWNER:COUNT, and its counter.
byte owner[NODES];
byte count[NODES];
byte counter[NODES];

// Not part of the system: an earlier moment of node 0, and what the clocks say.
byte saved_owner;
byte saved_count;
byte saved_counter;
byte roll_backs;
byte ended;
byte clock;
hidden byte next;

#ifdef FAST_CLOCK
bool has_begun;  // the set
byte ahead = AHEAD;  // of one clock
#define HAS_BEGUN has_begun
#else
#define HAS_BEGUN true
#endif
#ifdef IN_TURN
#define MAY_BEGIN(a) (HAS_BEGUN && ended == a - 1)
#else
#define MAY_BEGIN(a) (HAS_BEGUN && began == a - 1)
#endif

inline read_clock(floor) {
#if defined(NO_FLOOR)
    floor = 0
#elif defined(CLOCK_STANDS)
    floor = 1
#elif defined(FAST_CLOCK)
    clock++;
    floor = clock
#else
    at_least(clock, counter[0]);
    at_least(clock, counter[1]);
    at_least(clock, counter[2]);
    at_least(clock, saved_counter);
    at_least(clock, newest_token[0]);
#ifdef SAME_MOMENT
    floor = clock + 1
#else
    clock++;
    floor = clock
#endif
#endif
}

inline grant(acquirer, node) {
    next = (counter[node] + 1 < floor -> floor : counter[node] + 1);
    counter[node] = next;
    owner[node] = acquirer;
    count[node] = next
}

proctype Acquire(byte a) {
    byte floor;
    byte granted[NODES];  // the count of each node that granted it
    byte asked;
    byte node;
    byte votes;
    byte token;
    byte newest_before;
    end:
    atomic {
        MAY_BEGIN(a);
        began = a;
        newest_before = newest_token[0];
        read_clock(floor)
    };
    do
    :: atomic {
           asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: grant(a, node); granted[node] = count[node]
           :: grant(a, node)  // the reply is lost
           :: true            // the lock is taken, or the request is lost
           fi;
           node = 0
       }
    :: atomic {
           asked == ALL_NODES ->
           asked = 0;
           do
           :: node < NODES ->
              at_least(token, granted[node]);
              if
              :: granted[node] == 0 -> asked = asked | (1 << node)
              :: else
              fi;
              node++
           :: else -> break
           od;
           if
           :: SIZE(asked) > NODES - MAJORITY -> goto ended_
           :: else
           fi;
           node = 0;
           do
           :: node < NODES ->
              if
              :: granted[node] == token -> votes++; asked = asked | (1 << node)
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
    :: atomic { votes >= MAJORITY -> break }
    :: atomic { votes < MAJORITY && asked == ALL_NODES -> goto ended_ }
    :: atomic {
           votes < MAJORITY && asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: owner[node] == a && count[node] == granted[node] ->
              at_least(counter[node], token);
              count[node] = token;
              votes++
           :: true  // refused, or the request is lost
           fi;
           node = 0
       }
    od;
    atomic { check_token(0, token, newest_before) };
    ended_:
    atomic {
        ended++;
        floor = 0;
        asked = 0;
        node = 0;
        votes = 0;
        token = 0;
        newest_before = 0;
        granted[0] = 0;
        granted[1] = 0;
        granted[2] = 0
    }
}

proctype RollBacks() {
    end:
    do
    :: atomic {
           roll_backs < ROLL_BACKS ->
           saved_owner = owner[0];
           saved_count = count[0];
           saved_counter = counter[0]
       }
    :: atomic {
           roll_backs < ROLL_BACKS ->
           roll_backs++;
           at_least(clock, counter[0]);
           owner[0] = saved_owner;
           count[0] = saved_count;
           counter[0] = saved_counter
       }
    od
}

#ifdef FAST_CLOCK
#ifdef ANY_CLOCKS
#define MAY_BEGIN_SET true
#else
#define MAY_BEGIN_SET (ahead == 0)
#endif
proctype Genesis() {
    do
    :: atomic { !has_begun && ahead > 0 -> ahead = 0 }
    :: atomic {
           !has_begun && MAY_BEGIN_SET ->
           counter[0] = clock + ahead;
           counter[1] = clock + ahead;
           counter[2] = clock + ahead;
           saved_counter = counter[0];
           ahead = 0;
           has_begun = true;
           break
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
        i = 0;
#ifdef FAST_CLOCK
        run Genesis();
#endif
        run RollBacks()
    }
}
