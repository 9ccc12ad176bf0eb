// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// How a waiter is woken by a database that has no messages to a client.
// docs/contributing/models.md describes the model.
//
// The waiter has a second connection, its ear. There a procedure reads the bell of the waiter, and
// sleeps if the bell is as before. A release grants the lock and rings the bell in one transaction,
// and then kills the present statement of the ear. No timer ends the sleep. GRANTS releases grant a
// lock to the waiter.
//
// holds  two_grants
// holds  three_grants -DGRANTS=3
// breaks no_bell waiter_learns_of_each_grant -DNO_BELL
// breaks kill_before_commit waiter_learns_of_each_grant -DKILL_BEFORE_COMMIT

#ifndef GRANTS
#define GRANTS 2
#endif

byte bell;
byte granted;
byte known;           // of the grants, to the waiter
bool is_busy;         // the ear has a statement
bool is_killed;
bool has_answer;      // of the ear, on its way to the waiter
byte answered_bell;

// The properties. Each is true, or the search ends.
hidden byte waiter_learns_of_each_grant;

active proctype Ear() {
    byte seen, before;
    end:
    do
       // A new statement clears an earlier kill. Without a statement, a kill has no effect.
    :: atomic {
           !is_busy && !has_answer ->
           is_busy = true;
           is_killed = false;
           before = answered_bell
       };
       atomic { seen = bell };
       if
       :: is_killed
       :: else ->
          end_sleep:
#ifdef NO_BELL
          is_killed
#else
          if
          :: seen == before -> end_sleep_2: is_killed
          :: else
          fi
#endif
       fi;
       atomic { is_busy = false; has_answer = true; answered_bell = seen }
    od
}

// After each answer it looks, and calls the ear again.
active proctype Waiter() {
    end:
    do
    :: atomic { has_answer -> known = granted; has_answer = false }
    od
}

inline kill_statement() {
    atomic {
        if
        :: is_busy -> is_killed = true
        :: else
        fi
    }
}

active proctype Releaser() {
    byte i;
    do
    :: i < GRANTS ->
#ifdef KILL_BEFORE_COMMIT
       kill_statement();
       atomic { granted++; bell++ };
#else
       atomic { granted++; bell++ };
       kill_statement();
#endif
       i++
    :: else -> break
    od
}

init {
    timeout ->
    waiter_learns_of_each_grant = known == GRANTS;
    assert(waiter_learns_of_each_grant)
}
