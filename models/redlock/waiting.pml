// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Waiters and wake-ups over three or five nodes. docs/contributing/models.md describes the model.
//
// Each client acquires the lock once, and releases it. A node that has granted the lock to another
// client puts the client in its line. A release at a node wakes any one client of that node's line:
// the wake-up grants nothing, the client only tries again at all nodes. Keys do not expire, and no
// timer helps a waiter: if a waiter sleeps for ever, the model shows it. DOWN nodes never answer,
// CANCELS waiters give up, DEATHS clients die, and with -DLOST_WAKE_UPS any wake-up may be lost.
// With -DPOLLING a timer ends the sleep of one client when nothing else can happen, at most once
// for each client.
//
// holds  three_clients
// holds  one_node_down -DDOWN=1
// holds  cancelled -DCANCELS=2
// holds  five_nodes -DCLIENTS=2 -DNODES=5 -DDOWN=1 -DCANCELS=1
// holds  polling -DDEATHS=1 -DDOWN=1 -DLOST_WAKE_UPS -DPOLLING
// breaks wake_up_dropped no_waiter_is_forgotten -DDOWN=1 -DWAKE_UP_DROPPED
// breaks silent_return no_waiter_is_forgotten -DSILENT_RETURN
// breaks silent_leave no_waiter_is_forgotten -DCANCELS=1 -DSILENT_LEAVE
// breaks queued_later no_waiter_is_forgotten -DCLIENTS=2 -DQUEUED_LATER
// breaks stays_in_line no_trace_is_left -DSTAYS_IN_LINE
// breaks one_node_wakes no_waiter_is_forgotten -DONE_NODE_WAKES
// limit  wake_ups_lost no_waiter_is_forgotten -DCLIENTS=2 -DLOST_WAKE_UPS
// limit  dead_client no_waiter_is_forgotten -DCLIENTS=2 -DDEATHS=1

#ifndef CLIENTS
#define CLIENTS 3
#endif
#ifndef NODES
#define NODES 3
#endif
#ifndef DOWN
#define DOWN 0
#endif
#ifndef CANCELS
#define CANCELS 0
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#define MAJORITY (NODES / 2 + 1)
#define UP_NODES (NODES - DOWN)
#define ALL_NODES ((1 << UP_NODES) - 1)  // that answer, as a set of bits
#define IS_IN(set, i) (((set) >> (i)) & 1)
#define SIZE(nodes) \
    (IS_IN(nodes, 0) + IS_IN(nodes, 1) + IS_IN(nodes, 2) + IS_IN(nodes, 3) + IS_IN(nodes, 4))
#define NONE CLIENTS

// Each node: the client that has the key, and the clients in its line, as a set of bits.
byte holder[UP_NODES];
byte line[UP_NODES];

// Each client.
#define TRYING 0
#define RETURNING 1  // gives back what it has got
#define SLEEPING 2
#define HOLDING 3
#define LEAVING 4    // leaves all lines
#define FINISHED 5
#define DEAD 6
byte state[CLIENTS];
byte asked[CLIENTS];  // a set of nodes
byte got[CLIENTS];    // a set of nodes
bool is_woken[CLIENTS];
bool has_had_it[CLIENTS];
#ifdef QUEUED_LATER
byte to_queue[CLIENTS];  // a set of nodes
#define IS_QUEUED(c) (to_queue[c] == 0)
#else
#define IS_QUEUED(c) true
#endif

// Not part of the system.
byte cancels;
byte deaths;
byte polls;

// The properties. Each is true, or the search ends.
hidden byte no_waiter_is_forgotten;
hidden byte no_trace_is_left;

inline leave_line(c, node) {
    line[node] = line[node] & (255 - (1 << c))
}

// A wake-up is on its way as soon as it is sent: a client reads it at any later time.
inline wake(c, node) {
    leave_line(c, node);
    if
    :: state[c] != DEAD -> is_woken[c] = true
    :: state[c] == DEAD
#ifdef LOST_WAKE_UPS
    :: true
#endif
    fi
}

inline wake_next(node) {
    if
    :: IS_IN(line[node], 0) -> wake(0, node)
    :: IS_IN(line[node], 1) -> wake(1, node)
#if CLIENTS > 2
    :: IS_IN(line[node], 2) -> wake(2, node)
#endif
#if CLIENTS > 3
    :: IS_IN(line[node], 3) -> wake(3, node)
#endif
    :: line[node] == 0
    fi
}

inline acquire(c, node) {
    asked[c] = asked[c] | (1 << node);
    if
    :: holder[node] == NONE ->
       holder[node] = c;
       got[c] = got[c] | (1 << node);
       leave_line(c, node)
    :: else ->
#ifdef QUEUED_LATER
       to_queue[c] = to_queue[c] | (1 << node)
#else
       line[node] = line[node] | (1 << c)
#endif
    fi
}

inline release(c, node) {
    holder[node] = NONE;
    got[c] = got[c] & (255 - (1 << node));
#if defined(SILENT_RETURN)
    if
    :: state[c] == RETURNING
    :: else -> wake_next(node)
    fi
#elif defined(ONE_NODE_WAKES)
    if
    :: node != 0
    :: else -> wake_next(node)
    fi
#else
    wake_next(node)
#endif
}

inline leave(c, node) {
    asked[c] = asked[c] & (255 - (1 << node));
#ifdef STAYS_IN_LINE
    if
    :: has_had_it[c]
    :: else -> leave_line(c, node)
    fi;
#else
    leave_line(c, node);
#endif
#ifndef SILENT_LEAVE
    if
    :: holder[node] == NONE -> wake_next(node)
    :: else
    fi
#endif
}

inline begin_try(c) {
    state[c] = TRYING;
    asked[c] = 0;
    is_woken[c] = false
}

#ifdef POLLING
#define IS_POLLING_OVER (polls == CLIENTS || !IS_ANY_ASLEEP)
#else
#define IS_POLLING_OVER true
#endif
#if CLIENTS > 3
#define IS_ANY_ASLEEP \
    (state[0] == SLEEPING || state[1] == SLEEPING || state[2] == SLEEPING || state[3] == SLEEPING)
#elif CLIENTS > 2
#define IS_ANY_ASLEEP (state[0] == SLEEPING || state[1] == SLEEPING || state[2] == SLEEPING)
#else
#define IS_ANY_ASLEEP (state[0] == SLEEPING || state[1] == SLEEPING)
#endif

#define ACQUIRE(node) \
    atomic { \
        state[c] == TRYING && !IS_IN(asked[c], node) -> \
        acquire(c, node) \
    }
#define RELEASE(node) \
    atomic { \
        (state[c] == RETURNING || state[c] == HOLDING) && IS_IN(got[c], node) -> \
        release(c, node) \
    }
#define LEAVE(node) \
    atomic { state[c] == LEAVING && IS_IN(asked[c], node) -> leave(c, node) }
#ifdef QUEUED_LATER
#define QUEUE(node) \
    atomic { \
        IS_IN(to_queue[c], node) -> \
        to_queue[c] = to_queue[c] & (255 - (1 << node)); \
        line[node] = line[node] | (1 << c) \
    }
#endif

#define AT_EACH_NODE_3(STEP) \
    :: STEP(0) \
    :: STEP(1)
#if UP_NODES > 3
#define AT_EACH_NODE(STEP) AT_EACH_NODE_3(STEP) :: STEP(2) :: STEP(3)
#elif UP_NODES > 2
#define AT_EACH_NODE(STEP) AT_EACH_NODE_3(STEP) :: STEP(2)
#else
#define AT_EACH_NODE(STEP) AT_EACH_NODE_3(STEP)
#endif

proctype Client(byte c) {
    end:
    do
    AT_EACH_NODE(ACQUIRE)
    AT_EACH_NODE(RELEASE)
    AT_EACH_NODE(LEAVE)
#ifdef QUEUED_LATER
    AT_EACH_NODE(QUEUE)
#endif
    // All nodes have answered.
    :: atomic {
           state[c] == TRYING && asked[c] == ALL_NODES && IS_QUEUED(c) ->
           if
           :: SIZE(got[c]) >= MAJORITY -> state[c] = LEAVING; has_had_it[c] = true
           :: else ->
              state[c] = RETURNING;
#ifdef WAKE_UP_DROPPED
              is_woken[c] = false
#endif
           fi
       }
    :: atomic { state[c] == RETURNING && got[c] == 0 -> state[c] = SLEEPING }
    :: atomic { state[c] == SLEEPING && is_woken[c] -> begin_try(c) }
#ifdef POLLING
    :: atomic { timeout && state[c] == SLEEPING && polls < CLIENTS -> polls++; begin_try(c) }
#endif
    // Gives up, while it sleeps or when a try has failed.
    :: atomic {
           cancels < CANCELS && state[c] == SLEEPING ->
           cancels++;
           state[c] = LEAVING;
           asked[c] = ALL_NODES
       }
    :: atomic {
           state[c] == LEAVING && asked[c] == 0 ->
           is_woken[c] = false;
           if
           :: got[c] != 0 -> state[c] = HOLDING
           :: else -> state[c] = FINISHED
           fi
       }
    :: atomic { state[c] == HOLDING && got[c] == 0 -> state[c] = FINISHED; is_woken[c] = false }
#if DEATHS > 0
    :: atomic {
           deaths < DEATHS && state[c] != FINISHED && state[c] != DEAD ->
           deaths++;
           state[c] = DEAD;
           asked[c] = 0;
           is_woken[c] = false
       }
#endif
    od
}

#if DEATHS > 0
// The keys and the places of a dead client end. Nobody is told.
#define EXPIRE(node) \
    atomic { \
        holder[node] != NONE && state[holder[node]] == DEAD -> \
        got[holder[node]] = got[holder[node]] & (255 - (1 << node)); \
        holder[node] = NONE \
    }

proctype Expiry() {
    end:
    do
    AT_EACH_NODE(EXPIRE)
    od
}
#endif

proctype End() {
    byte c;
    byte node;
    atomic {
        timeout && IS_POLLING_OVER;
        no_waiter_is_forgotten = true;
        no_trace_is_left = true;
        do
        :: c < CLIENTS ->
           no_waiter_is_forgotten =
               no_waiter_is_forgotten && (state[c] == FINISHED || state[c] == DEAD);
           c++
        :: else -> break
        od;
        assert(no_waiter_is_forgotten);
        do
        :: node < UP_NODES ->
           c = 0;
           do
           :: c < CLIENTS ->
              no_trace_is_left = no_trace_is_left && (state[c] == DEAD ||
                                                      (holder[node] != c && !IS_IN(line[node], c)));
              c++
           :: else -> break
           od;
           node++
        :: else -> break
        od;
        assert(no_trace_is_left)
    }
}

init {
    atomic {
        byte i;
        do
        :: i < UP_NODES -> holder[i] = NONE; i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < CLIENTS -> run Client(i); i++
        :: else -> break
        od;
        i = 0;
#if DEATHS > 0
        run Expiry();
#endif
        run End()
    }
}
