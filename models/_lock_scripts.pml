// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The scripts of src/redis/native/scripts, for exclusive locks. Included by handoff.pml. Each is
// executed in one step, for the owner `id`; the reply is in `kind`.

// _grant_waiters.lua, for a lock that is free.
inline grant_waiters() {
    lock = NONE;
    do
    :: lock == NONE && len(queue) > 0 ->
       queue ? first;
       if
       :: LISTENS(CLIENT(first)) ->
          lock = first;
          if
          :: is_subscribed[CLIENT(first)] -> inbox[CLIENT(first)] ! GRANT, first
          :: else
          fi
       :: else ->
#ifdef FIRST_WAITER_ONLY
          break
#endif
       fi
    :: else -> break
    od;
    first = 0
}

inline enqueue() {
    if
    :: queue ?? [eval(id)]
    :: else -> queue ! id
    fi
}

// acquire.lua: a free lock may be taken past the queue.
inline execute_acquire() {
    if
    :: lock == NONE -> lock = id; kind = GRANTED
    :: else -> enqueue(); kind = QUEUED
    fi
}

// refresh.lua
inline execute_refresh() {
    if
    :: lock == id -> kind = GRANTED
    :: else ->
       enqueue();
       if
       :: lock == NONE -> grant_waiters()
       :: else
       fi;
       kind = QUEUED
    fi
}

// release.lua
inline execute_release() {
    if
#ifdef RELEASE_BY_NAME
    :: lock != NONE ->
#else
    :: lock == id ->
#endif
       was_released[id] = true; grant_waiters()
    :: else
    fi;
    kind = RELEASED
}

// leave.lua
inline execute_leave() {
    if
    :: queue ?? [eval(id)] -> queue ?? eval(id)
    :: else
    fi;
    if
#ifdef UNDO_BY_NAME
    :: lock != NONE ->
#elif defined(UNDO_ENDS_OWN_HOLD)
    :: lock == id ->
#else
    :: lock == id && !(keeps_hold[id] && !was_released[id]) ->
#endif
       undo_spares_holds = state[CLIENT(lock)] != HOLDING || owner[CLIENT(lock)] != lock;
       assert(undo_spares_holds);
#ifdef UNDO_KEEPS_THE_LOCK
       lock = NONE
#else
       grant_waiters()
#endif
    :: lock == NONE -> grant_waiters()
    :: else
    fi;
    kind = (late[id] == NONE -> LEFT : LEFT_EARLY)
}

inline execute(command) {
    if
    :: command == ACQUIRE -> execute_acquire()
    :: command == REFRESH -> execute_refresh()
    :: command == RELEASE -> execute_release()
    :: command == LEAVE -> execute_leave()
    fi
}
