// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Sets of nodes, and the order of the tokens of each lock. Included by the models of this folder.

#ifndef NODES
#define NODES 3
#endif
#ifndef LOCKS
#define LOCKS 1
#endif
#define MAX_TOKEN 31
#define MAJORITY (NODES / 2 + 1)
#define ALL_NODES ((1 << NODES) - 1)  // as a set of bits
#define IS_IN(nodes, node) (((nodes) >> (node)) & 1)
// The short form of a long run: each client asks the nodes in their order.
#ifdef IN_ORDER
#define IS_NEXT(asked, node) (((asked) & ((2 << (node)) - 1)) == (1 << (node)) - 1)
#else
#define IS_NEXT(asked, node) (!IS_IN(asked, node))
#endif
#define SIZE(nodes) \
    (IS_IN(nodes, 0) + IS_IN(nodes, 1) + IS_IN(nodes, 2) + IS_IN(nodes, 3) + IS_IN(nodes, 4))

byte began;                // acquires
byte newest_token[LOCKS];  // of the acquires that have ended
bool is_used[LOCKS * (MAX_TOKEN + 1)];

// The properties. Each is true, or the search ends.
hidden byte tokens_are_distinct;
hidden byte later_token_is_larger;

inline pick_node(node, asked) {
    if
    :: IS_NEXT(asked, 0) -> node = 0
    :: IS_NEXT(asked, 1) -> node = 1
    :: IS_NEXT(asked, 2) -> node = 2
#if NODES > 3
    :: IS_NEXT(asked, 3) -> node = 3
    :: IS_NEXT(asked, 4) -> node = 4
#endif
    fi;
    asked = asked | (1 << node)
}

inline at_least(variable, least) {
    if
    :: variable < least -> variable = least
    :: else
    fi
}

// An acquire that began when `newest_before` was the lock's newest token has got its token.
inline check_token(lock, token, newest_before) {
    later_token_is_larger = token > newest_before;
    assert(later_token_is_larger);
    tokens_are_distinct = !is_used[lock * (MAX_TOKEN + 1) + token];
#ifndef ORDER_ONLY
    assert(tokens_are_distinct);
#endif
    is_used[lock * (MAX_TOKEN + 1) + token] = true;
    at_least(newest_token[lock], token)
}
