// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Nodes that become members of the set, and acquires over them. Included by models in which nodes
// lose their memory, which say when an acquire may begin: MAY_ACQUIRE(a).

#include "_quorum.pml"

// Each node: the key of the lock, which is OWNER:COUNT, its counter, and the incarnation of node 0
// that it knows. known[0] is node 0's own incarnation.
byte owner[NODES];
byte count[NODES];
byte counter[NODES];
byte known[NODES];

// Each node: the nonce of its memory, and its least counter since it has become a member.
byte life[NODES];
bool is_member[NODES];
byte floor[NODES];

// Not part of the system.
byte ended;
byte losses;
hidden byte next;

#ifdef NO_FLOOR
#define COUNTER(node) (counter[node] == 0 -> floor[node] : counter[node])
#else
#define COUNTER(node) (counter[node] < floor[node] -> floor[node] : counter[node])
#endif

// The key of an earlier hold has vanished.
inline grant(acquirer, node) {
    next = COUNTER(node) + 1;
    counter[node] = next;
    owner[node] = acquirer;
    count[node] = next
}

inline raise_to(node, token) {
    if
    :: COUNTER(node) < token -> counter[node] = token
    :: else
    fi
}

#ifdef CONFIRM_ANY_LIFE
#define IS_SAME_LIFE(node) true
#else
#define IS_SAME_LIFE(node) (life[node] == granted_life[node])
#endif
#define CAN_CONFIRM(a, node) \
    (is_member[node] && IS_SAME_LIFE(node) && owner[node] == a && count[node] == granted[node])

#ifdef RENEW_BY_COUNT
#define CAN_RENEW(a, node) (owner[node] == a && count[node] <= token)
#else
#define CAN_RENEW(a, node) (owner[node] == a && count[node] <= token && COUNTER(node) <= token)
#endif

// Node 0 votes only if no other node of the quorum knows a later incarnation.
#ifdef NO_INCARNATIONS
#define IS_OUTDATED false
#else
#define IS_OUTDATED \
    ((IS_IN(quorum, 1) && replied[1] > replied[0]) || (IS_IN(quorum, 2) && replied[2] > replied[0]))
#endif
#define VOTES (SIZE(quorum) - (IS_IN(quorum, 0) && IS_OUTDATED))

proctype Acquire(byte a) {
    byte granted[NODES];  // the count of each node that granted it
    byte replied[NODES];  // the incarnation of node 0 in the last reply of each node
    byte granted_life[NODES];
    byte asked;
    byte node;
    byte quorum;
    byte token;
    byte newest_before;
    end:
    atomic {
        MAY_ACQUIRE(a);
        began = a;
        newest_before = newest_token[0]
    };
    do
    :: atomic {
           asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: is_member[node] ->
              grant(a, node);
              if
              :: granted[node] = count[node];
                 granted_life[node] = life[node];
                 replied[node] = known[node]
              :: true  // the reply is lost
              fi
           :: true  // the lock is taken, or the request is lost
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
              :: granted[node] == token -> asked = asked | (1 << node); quorum = quorum | (1 << node)
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
    :: atomic { VOTES >= MAJORITY -> break }
    :: atomic { VOTES < MAJORITY && asked == ALL_NODES -> goto ended_ }
    :: atomic {
           VOTES < MAJORITY && asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: CAN_CONFIRM(a, node) ->
              raise_to(node, token);
              if
              :: quorum = quorum | (1 << node); replied[node] = known[node]
              :: true  // the reply is lost
              fi
           :: true  // refused, or the request is lost
           fi;
           node = 0
       }
    od;
    atomic {
        check_token(0, token, newest_before);
        asked = 0;
        quorum = 0;
        newest_before = 0;
        granted_life[0] = 0;
        granted_life[1] = 0;
        granted_life[2] = 0;
        granted[0] = 0;
        granted[1] = 0;
        granted[2] = 0;
        replied[0] = 0;
        replied[1] = 0;
        replied[2] = 0
    };
#ifdef RENEW
    atomic { ended++; newest_before = newest_token[0] };
    do
    :: atomic {
           asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: is_member[node] && CAN_RENEW(a, node) ->
              raise_to(node, token);
              quorum = quorum | (1 << node)
           :: is_member[node] && COUNTER(node) <= token ->  // the key has vanished
              raise_to(node, token);
              owner[node] = a;
              count[node] = token;
              quorum = quorum | (1 << node)
           :: true
           fi;
           node = 0
       }
    :: atomic {
           asked == ALL_NODES ->
           renewal_has_newest_token = SIZE(quorum) < MAJORITY || newest_before <= token;
           assert(renewal_has_newest_token);
           ended--;
           break
       }
    od;
#endif
    ended_:
    atomic {
        ended++;
        asked = 0;
        node = 0;
        quorum = 0;
        token = 0;
        newest_before = 0;
        granted_life[0] = 0;
        granted_life[1] = 0;
        granted_life[2] = 0;
        granted[0] = 0;
        granted[1] = 0;
        granted[2] = 0;
        replied[0] = 0;
        replied[1] = 0;
        replied[2] = 0
    }
}

#ifdef NO_NONCE
#define IS_LIFE_OF_DRIVER true
#else
#define IS_LIFE_OF_DRIVER (life[0] == prepared_life)
#endif

// A client makes node 0 a member again, or refreshes its incarnation. Both other nodes are the
// majority that it asks.
proctype Driver(bool is_refresh) {
    byte prepared_life;
    byte incarnation;
    byte highest;
    byte asked;
    byte node;
    end:
    do
    :: atomic {
           (!is_refresh && !is_member[0] && is_member[1] && is_member[2]) ||
               (is_refresh && is_member[0] && (known[1] > known[0] || known[2] > known[0])) ->
           prepared_life = life[0];
           asked = 1
       };
       // Reads the incarnation that the others know.
       do
       :: atomic {
              asked != ALL_NODES ->
              pick_node(node, asked);
              at_least(incarnation, known[node]);
#ifdef COUNTERS_FIRST
              next = COUNTER(node);
              at_least(highest, next);
#endif
              node = 0
          }
       :: atomic { asked == ALL_NODES -> break }
       od;
       atomic {
           asked = 1;
           if
           :: !is_refresh -> incarnation++
           :: else
           fi
       };
       // Announces the new incarnation, and reads the counters in the same script.
       do
       :: atomic {
              asked != ALL_NODES ->
              pick_node(node, asked);
              at_least(known[node], incarnation);
#if defined(ONE_COUNTER)
              highest = COUNTER(node);
#elif !defined(COUNTERS_FIRST)
              next = COUNTER(node);
              at_least(highest, next);
#endif
              node = 0
          }
       :: atomic { asked == ALL_NODES -> break }
       od;
       // Installs both at node 0, if it has not restarted since.
       atomic {
           if
           :: IS_LIFE_OF_DRIVER && !is_member[0] ->
              is_member[0] = true;
              floor[0] = highest;
              known[0] = incarnation
           :: IS_LIFE_OF_DRIVER && is_member[0] && incarnation > known[0] ->
              at_least(floor[0], highest);
              known[0] = incarnation
           :: else
           fi;
           prepared_life = 0;
           incarnation = 0;
           highest = 0;
           asked = 0
       }
    od
}
