// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What a function of the schema sees of the queue. docs/contributing/models.md describes the model.
//
// The level READ COMMITTED: a statement sees the tables as of its start. After a wait for a
// locked row it sees that row as it is, and the other rows as before. Each statement of a function
// has a snapshot of its own, so what it sees of the queue after it has locked the row of the lock
// is true. With -DONE_STATEMENT a single statement with sub-statements locks the row and serves the
// queue. Client 1 holds the lock and releases it, clients 2 and 3 acquire and release it.
//
// holds  functions
// breaks one_statement no_waiter_is_forgotten -DONE_STATEMENT

byte owner = 1;
bool has_place[4];
byte locked_by;       // the row of the lock
byte ended;

// The properties. Each is true, or the search ends.
hidden byte no_waiter_is_forgotten;

#define TAKE_SNAPSHOT \
    sees_place[2] = has_place[2]; \
    sees_place[3] = has_place[3]

#ifdef ONE_STATEMENT
#define LOCK_ROW(c) \
    atomic { TAKE_SNAPSHOT }; \
    atomic { locked_by == 0 -> locked_by = c }
#else
#define LOCK_ROW(c) \
    atomic { locked_by == 0 -> locked_by = c }; \
    atomic { TAKE_SNAPSHOT }
#endif

proctype Release(byte c) {
    bool sees_place[4];
    LOCK_ROW(c);
    atomic {
        if
        :: sees_place[2] && has_place[2] -> has_place[2] = false; owner = 2
        :: else ->
           if
           :: sees_place[3] && has_place[3] -> has_place[3] = false; owner = 3
           :: else -> owner = 0
           fi
        fi;
        locked_by = 0;
        ended++
    }
}

proctype Acquire(byte c) {
    bool sees_place[4];
    LOCK_ROW(c);
    atomic {
        if
        :: owner == 0 && !sees_place[2] && !sees_place[3] -> owner = c
        :: else -> has_place[c] = true
        fi;
        locked_by = 0
    };
    end_wait:
    owner == c;  // it is told of a grant
    run Release(c)
}

init {
    atomic {
        run Release(1);
        run Acquire(2);
        run Acquire(3)
    };
    timeout ->
    no_waiter_is_forgotten = ended == 3;
    assert(no_waiter_is_forgotten)
}
