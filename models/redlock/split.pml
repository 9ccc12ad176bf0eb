// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Clients that request a free lock at the same moment and split three nodes between them. Nobody
// dies, and each node answers. docs/contributing/models.md describes the model.
//
// A client asks the nodes in any order. A refusal names the holder with its attempt. A client with
// a smaller number comes first. A client that waits for a refusing node asks it again when it has
// changed. A client that has given way comes back when each attempt that was under way then has
// ended: its pause is longer than they take. With -DDEAD, a dead client that comes before all has
// one node.
//
// holds  three_clients
// holds  dead_rest -DDEAD
// breaks all_keep somebody_wins -DALL_KEEP
// breaks all_give_back somebody_wins -DALL_GIVE_BACK
// breaks respects_the_dead somebody_wins -DDEAD -DRESPECTS_THE_DEAD
// breaks taken_by_refusals taken_is_true -DTAKEN_BY_REFUSALS
// breaks attempts_not_told_apart taken_is_true -DATTEMPTS_NOT_TOLD_APART

#define NODES 3
#define MAJORITY 2
#define CLIENTS 3
#define ALL_NODES 7  // as a set of bits
#define PATIENCE 2   // how often a client gives way to each other one
#define ATTEMPTS 8
#define VALUE(c) (1 + (c) * ATTEMPTS + attempt[c])
#define CLIENT_OF(value) (((value) - 1) / ATTEMPTS)
#define DEAD_VALUE 255

#define IS_IN(nodes, node) (((nodes) >> (node)) & 1)
#define SIZE(nodes) (IS_IN(nodes, 0) + IS_IN(nodes, 1) + IS_IN(nodes, 2))

mtype = { asking, waiting, giving_back, away, won, ended };

byte owner[NODES];
mtype state[CLIENTS];
byte attempt[CLIENTS];
byte asked[CLIENTS];              // a set of nodes
byte granted[CLIENTS];
byte seen[CLIENTS * NODES];       // the holder that each node has named
byte lets_pass[CLIENTS];          // a set of clients
byte gave_way[CLIENTS * (CLIENTS + 1)];
bool had_majority[CLIENTS * ATTEMPTS + 1];
byte winners;

// The properties. Each is true, or the search ends.
hidden byte somebody_wins;
hidden byte taken_is_true;

#define SEEN(c, node) seen[(c) * NODES + node]
#ifdef ATTEMPTS_NOT_TOLD_APART
#define IS_SAME(one, two) ((one) != 0 && CLIENT_OF(one) == CLIENT_OF(two))
#else
#define IS_SAME(one, two) ((one) != 0 && (one) == (two))
#endif
#ifdef TAKEN_BY_REFUSALS
#define IS_TAKEN(c) (SIZE(asked[c] & ~granted[c]) >= MAJORITY)
#else
#define IS_TAKEN(c) \
    (IS_SAME(SEEN(c, 0), SEEN(c, 1)) || IS_SAME(SEEN(c, 1), SEEN(c, 2)) || \
     IS_SAME(SEEN(c, 0), SEEN(c, 2)))
#endif
#define HAD_MAJORITY(value) ((value) != 0 && (value) != DEAD_VALUE && had_majority[value])

#define RIVAL(value) ((value) == DEAD_VALUE -> CLIENTS : CLIENT_OF(value))
#define WAYS(c, value) gave_way[(c) * (CLIENTS + 1) + RIVAL(value)]
#ifdef RESPECTS_THE_DEAD
#define RESPECTS(c, value) true
#else
#define RESPECTS(c, value) (WAYS(c, value) < PATIENCE)
#endif
#define COMES_FIRST(c, value) \
    ((value) != 0 && ((value) == DEAD_VALUE || CLIENT_OF(value) < (c)) && RESPECTS(c, value))
#ifdef ALL_KEEP
#define GIVES_WAY(c) false
#else
#ifdef ALL_GIVE_BACK
#define GIVES_WAY(c) true
#else
#define GIVES_WAY(c) \
    (COMES_FIRST(c, SEEN(c, 0)) || COMES_FIRST(c, SEEN(c, 1)) || COMES_FIRST(c, SEEN(c, 2)))
#endif
#endif

#define HAS_CHANGED(c, node) (SEEN(c, node) != 0 && owner[node] != SEEN(c, node))
#define IS_BUSY(c) (state[c] == asking || state[c] == waiting || state[c] == giving_back)
#define BUSY (IS_BUSY(0) | (IS_BUSY(1) << 1) | (IS_BUSY(2) << 2))

inline ask(c, node) {
    asked[c] = asked[c] | (1 << node);
    if
    :: owner[node] == 0 ->
       owner[node] = VALUE(c);
       granted[c] = granted[c] | (1 << node);
       if
       :: SIZE(granted[c]) >= MAJORITY -> had_majority[VALUE(c)] = true
       :: else
       fi
    :: else -> SEEN(c, node) = owner[node]
    fi
}

// Only to the first of them: the others may give way to that one, too.
inline give_way(c) {
    first = 0;
    for (node : 0 .. NODES - 1) {
        if
        :: COMES_FIRST(c, SEEN(c, node)) &&
           (first == 0 || SEEN(c, node) == DEAD_VALUE ||
            (first != DEAD_VALUE && SEEN(c, node) < first)) ->
           first = SEEN(c, node)
        :: else
        fi
    }
    if
    :: first != 0 -> WAYS(c, first)++
    :: else
    fi;
    first = 0;
    node = 0
}

inline leave(c) {
    lets_pass[0] = lets_pass[0] & ~(1 << (c));
    lets_pass[1] = lets_pass[1] & ~(1 << (c));
    lets_pass[2] = lets_pass[2] & ~(1 << (c))
}

inline forget(c) {
    SEEN(c, 0) = 0;
    SEEN(c, 1) = 0;
    SEEN(c, 2) = 0
}

inline judge(c) {
    if
    :: SIZE(granted[c]) >= MAJORITY -> state[c] = won; winners++; leave(c)
    :: SIZE(granted[c]) < MAJORITY && IS_TAKEN(c) ->
       taken_is_true =
           HAD_MAJORITY(SEEN(c, 0)) || HAD_MAJORITY(SEEN(c, 1)) || HAD_MAJORITY(SEEN(c, 2));
       assert(taken_is_true);
       state[c] = giving_back;
       attempt[c] = ATTEMPTS - 1
    :: SIZE(granted[c]) < MAJORITY && !IS_TAKEN(c) && GIVES_WAY(c) ->
       give_way(c);
       state[c] = giving_back
    :: SIZE(granted[c]) < MAJORITY && !IS_TAKEN(c) && !GIVES_WAY(c) -> state[c] = waiting
    fi
}

#define ASK(c, node) \
    atomic { state[c] == asking && !IS_IN(asked[c], node) -> ask(c, node) }
#define ASK_AGAIN(c, node) \
    atomic { \
        state[c] == waiting && HAS_CHANGED(c, node) -> \
        SEEN(c, node) = 0; \
        asked[c] = asked[c] & ~(1 << node); \
        state[c] = asking \
    }
#define GIVE_BACK(c, node) \
    atomic { \
        state[c] == giving_back && IS_IN(granted[c], node) -> \
        owner[node] = 0; \
        granted[c] = granted[c] & ~(1 << node) \
    }

proctype Client(byte c) {
    byte node, first;
    end:
    do
    :: ASK(c, 0)
    :: ASK(c, 1)
    :: ASK(c, 2)
    :: atomic { state[c] == asking && asked[c] == ALL_NODES -> judge(c) }
    :: ASK_AGAIN(c, 0)
    :: ASK_AGAIN(c, 1)
    :: ASK_AGAIN(c, 2)
    :: GIVE_BACK(c, 0)
    :: GIVE_BACK(c, 1)
    :: GIVE_BACK(c, 2)
    :: atomic {
           state[c] == giving_back && granted[c] == 0 ->
           asked[c] = 0;
           forget(c);
           if
           :: attempt[c] >= ATTEMPTS - 2 -> state[c] = ended
           :: else ->
              attempt[c]++;
              state[c] = away;
              lets_pass[c] = BUSY
           fi;
           leave(c)
       }
    :: atomic { state[c] == away && lets_pass[c] == 0 -> state[c] = asking }
    od
}

init {
    atomic {
#ifdef DEAD
        owner[0] = DEAD_VALUE;
#endif
        state[0] = asking;
        state[1] = asking;
        state[2] = asking;
        run Client(0);
        run Client(1);
        run Client(2)
    }
    timeout ->
    somebody_wins = winners == 1;
    assert(somebody_wins)
}
