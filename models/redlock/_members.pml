// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Nodes that become members of the set, and acquires over them. Included by models in which nodes
// lose their memory, which say when an acquire may begin: MAY_ACQUIRE(a). READERS says which
// acquires are of readers, as a set of bits.

#include "_quorum.pml"

#ifndef READERS
#define READERS 0
#endif
#define IS_READER(a) IS_IN(READERS, a)

// Nodes 0 to FORGETFUL - 1 may lose their memory more than once.
#ifndef FORGETFUL
#define FORGETFUL 1
#endif

// Each node: the key of the lock, which is OWNER:COUNT, its counter, and the memory mark of each
// forgetful node, also its own: the incarnation and the life of the latest memory that it has heard
// of.
byte owner[NODES];
byte count[NODES];
byte counter[NODES];
byte known[NODES * FORGETFUL];
byte known_life[NODES * FORGETFUL];
#define OF(of, node) ((node) * FORGETFUL + (of))

// Each node: the number of each reader's entry; 0: none.
#if READERS
byte entry[(ACQUIRES + 1) * NODES];
#endif
#define ENTRY(a, node) entry[(a) * NODES + (node)]

// Each node: the nonce of its memory, and its least counter since it has become a member.
byte life[NODES];
bool is_member[NODES];
byte floor[NODES];

// Not part of the system.
byte ended;
byte losses;
hidden byte next;
#if READERS
byte newest_of_writers;
byte token_of[ACQUIRES + 1];      // 0: none
byte asked_before[ACQUIRES + 1];  // the reader had asked all nodes before this acquire began
#endif

#ifdef NO_FLOOR
#define COUNTER(node) (counter[node] == 0 -> floor[node] : counter[node])
#else
#define COUNTER(node) (counter[node] < floor[node] -> floor[node] : counter[node])
#endif

// The key of an earlier hold has vanished.
inline grant(acquirer, node) {
#if READERS
    if
    :: IS_READER(acquirer) ->
       owner[node] = 0;
       count[node] = 0;
       ENTRY(acquirer, node) = COUNTER(node)
    :: else -> grant_writer(acquirer, node); clear_entries(node)
    fi
#else
    grant_writer(acquirer, node)
#endif
}

inline grant_writer(acquirer, node) {
    next = COUNTER(node) + 1;
    counter[node] = next;
    owner[node] = acquirer;
    count[node] = next
}

inline clear_entries(node) {
    entry[NODES + node] = 0;
    entry[2 * NODES + node] = 0
#if ACQUIRES > 2
    ;
    entry[3 * NODES + node] = 0
#endif
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
#if READERS
#define HAS_GRANT(a, node) \
    (IS_READER(a) -> ENTRY(a, node) == granted[node] && granted[node] > 0 \
                  : owner[node] == a && count[node] == granted[node])
#define GRANTED_COUNT(a, node) (IS_READER(a) -> ENTRY(a, node) : count[node])
#else
#define HAS_GRANT(a, node) (owner[node] == a && count[node] == granted[node])
#define GRANTED_COUNT(a, node) count[node]
#endif
#define CAN_CONFIRM(a, node) (is_member[node] && IS_SAME_LIFE(node) && HAS_GRANT(a, node))

#ifdef RENEW_BY_COUNT
#define CAN_RENEW_WRITER(a, node) (owner[node] == a && count[node] <= token)
#else
#define CAN_RENEW_WRITER(a, node) \
    (owner[node] == a && count[node] <= token && COUNTER(node) <= token)
#endif
#if READERS
#ifdef NOT_JOINED
#define IS_SINCE_REJOIN(a, node) (ENTRY(a, node) > 0)
#else
#define IS_SINCE_REJOIN(a, node) (ENTRY(a, node) > 0 && ENTRY(a, node) >= floor[node])
#endif
#define CAN_RENEW_READER(a, node) (IS_SINCE_REJOIN(a, node) && ENTRY(a, node) <= token)
#define CAN_RENEW(a, node) (IS_READER(a) -> CAN_RENEW_READER(a, node) : CAN_RENEW_WRITER(a, node))
#else
#define CAN_RENEW(a, node) CAN_RENEW_WRITER(a, node)
#endif

// A node votes only if no other node of the quorum knows another life of it that is not an earlier
// one.
#define KNOWS_LATER(of, node) \
    (IS_IN(quorum, node) && replied_life[OF(of, node)] != replied_life[OF(of, of)] && \
     replied[OF(of, node)] >= replied[OF(of, of)])
#ifdef NO_INCARNATIONS
#define IS_OUTDATED(node) false
#else
#define IS_OUTDATED(node) \
    (IS_IN(quorum, node) && \
     (KNOWS_LATER(node, 0) || KNOWS_LATER(node, 1) || KNOWS_LATER(node, 2)))
#endif
#if FORGETFUL > 1
#define VOTES (SIZE(quorum) - IS_OUTDATED(0) - IS_OUTDATED(1))
#else
#define VOTES (SIZE(quorum) - IS_OUTDATED(0))
#endif

inline note_reply(node) {
    replied[OF(0, node)] = known[OF(0, node)];
    replied_life[OF(0, node)] = known_life[OF(0, node)]
#if FORGETFUL > 1
    ;
    replied[OF(1, node)] = known[OF(1, node)];
    replied_life[OF(1, node)] = known_life[OF(1, node)]
#endif
}

inline forget_replies() {
    granted[0] = 0;
    granted[1] = 0;
    granted[2] = 0;
    granted_life[0] = 0;
    granted_life[1] = 0;
    granted_life[2] = 0;
    replied[0] = 0;
    replied[1] = 0;
    replied[2] = 0;
    replied_life[0] = 0;
    replied_life[1] = 0;
    replied_life[2] = 0
#if FORGETFUL > 1
    ;
    replied[3] = 0;
    replied[4] = 0;
    replied[5] = 0;
    replied_life[3] = 0;
    replied_life[4] = 0;
    replied_life[5] = 0
#endif
}

#if READERS
inline raise_entry(a, node) {
    if
    :: IS_READER(a) -> ENTRY(a, node) = token
    :: else
    fi
}

inline heal(a, node) {
    if
    :: IS_READER(a) -> owner[node] = 0; count[node] = 0; ENTRY(a, node) = token
    :: else -> heal_writer(a, node); clear_entries(node)
    fi
}

// A reader that had asked all nodes before a writer began has a smaller token.
#define IS_IN_ORDER(reader, writer) \
    (!IS_READER(reader) || IS_READER(writer) || token_of[reader] == 0 || token_of[writer] == 0 || \
     asked_before[reader] == 0 || asked_before[reader] > (writer) || \
     token_of[reader] < token_of[writer])

inline note_success(a) {
    if
    :: IS_READER(a) ->
       later_token_is_larger = token >= newest_before;
       assert(later_token_is_larger);
       at_least(newest_token[0], token)
    :: else ->
       check_token(0, token, newest_before);
       at_least(newest_of_writers, token)
    fi;
    token_of[a] = token;
    reader_is_before_writer = IS_IN_ORDER(1, 2);
    assert(reader_is_before_writer)
#if ACQUIRES > 2
    ;
    reader_is_before_writer = IS_IN_ORDER(1, 3) && IS_IN_ORDER(2, 3);
    assert(reader_is_before_writer)
#endif
}
#define NEWEST_OF_WRITERS newest_of_writers
#else
#define raise_entry(a, node) skip
#define heal(a, node) heal_writer(a, node)
#define note_success(a) check_token(0, token, newest_before)
#define NEWEST_OF_WRITERS newest_token[0]
#endif

inline heal_writer(a, node) {
    owner[node] = a;
    count[node] = token
}

proctype Acquire(byte a) {
    byte granted[NODES];  // the count of each node that granted it
    byte granted_life[NODES];
    byte replied[NODES * FORGETFUL];  // what the last reply of each node said of `known`
    byte replied_life[NODES * FORGETFUL];
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
              :: granted[node] = GRANTED_COUNT(a, node);
                 granted_life[node] = life[node];
                 note_reply(node)
#ifndef REPLIES_ARRIVE
              :: true  // the reply is lost
#endif
              fi
           :: true  // the lock is taken, or the request is lost
           fi;
           node = 0
       }
    :: atomic {
           asked == ALL_NODES ->
           asked = 0;
#if READERS
           asked_before[a] = (IS_READER(a) -> began + 1 : 0);
#endif
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
              :: granted[node] == token ->
                 asked = asked | (1 << node);
                 quorum = quorum | (1 << node)
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
              raise_entry(a, node);
              if
              :: quorum = quorum | (1 << node); note_reply(node)
#ifndef REPLIES_ARRIVE
              :: true  // the reply is lost
#endif
              fi
           :: true  // refused, or the request is lost
           fi;
           node = 0
       }
    od;
    atomic {
        note_success(a);
        asked = 0;
        quorum = 0;
        newest_before = 0;
        forget_replies()
    };
#ifdef RENEW
    atomic { ended++; newest_before = NEWEST_OF_WRITERS };
    do
    :: atomic {
           asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: is_member[node] && CAN_RENEW(a, node) ->
              raise_to(node, token);
              raise_entry(a, node);
              quorum = quorum | (1 << node)
           :: is_member[node] && COUNTER(node) <= token ->  // the key has vanished
              raise_to(node, token);
              heal(a, node);
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
        forget_replies()
    }
}

#ifdef NO_NONCE
#define IS_LIFE_OF_DRIVER(node) true
#else
#define IS_LIFE_OF_DRIVER(node) (life[node] == prepared_life)
#endif

inline merge(of_node, node) {
    if
    :: known[OF(of_node, node)] > merged[of_node] ->
       merged[of_node] = known[OF(of_node, node)];
       merged_life[of_node] = known_life[OF(of_node, node)]
    :: known[OF(of_node, node)] == merged[of_node] &&
       known_life[OF(of_node, node)] != merged_life[of_node] ->
       merged_life[of_node] = 255  // of no memory
    :: else
    fi
}

// A client makes the node a member again. The two other nodes are the majority that it asks.
proctype Driver(byte target) {
    byte prepared_life;
    byte incarnation;
    byte highest;
    byte merged[FORGETFUL];
    byte merged_life[FORGETFUL];
    byte asked;
    byte node;
    end:
    do
    :: atomic {
           is_member[0] + is_member[1] + is_member[2] >= MAJORITY && !is_member[target] ->
           prepared_life = life[target];
           asked = 1 << target
       };
       // Reads the memory marks that the others know. The new incarnation is above those of other
       // lives.
       do
       :: atomic {
              asked != ALL_NODES ->
              pick_node(node, asked);
              if
              :: is_member[node] ->
                 next = known[OF(target, node)] +
                        (known_life[OF(target, node)] != prepared_life);
                 at_least(incarnation, next)
#ifdef COUNTERS_FIRST
                 ;
                 next = COUNTER(node);
                 at_least(highest, next)
#endif
              :: else -> goto again
              fi;
              node = 0
          }
       :: atomic { asked == ALL_NODES -> asked = 1 << target; break }
       od;
       // Announces the new incarnation. The same script reads the counters and what else is known.
       do
       :: atomic {
              asked != ALL_NODES ->
              pick_node(node, asked);
              if
              :: is_member[node] && (known[OF(target, node)] < incarnation ||
                                     known_life[OF(target, node)] == prepared_life) ->
                 at_least(known[OF(target, node)], incarnation);
                 known_life[OF(target, node)] = prepared_life;
                 next = COUNTER(node);
#if defined(ONE_COUNTER)
                 highest = next;
#elif !defined(COUNTERS_FIRST)
                 at_least(highest, next);
#endif
                 merge(0, node)
#if FORGETFUL > 1
                 ;
                 merge(1, node)
#endif
              :: else -> goto again
              fi;
              node = 0
          }
       :: atomic { asked == ALL_NODES -> break }
       od;
       // Installs all that at the node, if it has not restarted since.
       atomic {
           if
           :: IS_LIFE_OF_DRIVER(target) && !is_member[target] ->
              is_member[target] = true;
              at_least(floor[target], highest);
#if FORGETFUL > 1 && !defined(NOT_MERGED)
              known[OF(0, target)] = merged[0];
              known_life[OF(0, target)] = merged_life[0];
              known[OF(1, target)] = merged[1];
              known_life[OF(1, target)] = merged_life[1];
#endif
              known[OF(target, target)] = incarnation;
              known_life[OF(target, target)] = life[target]
           :: else
           fi
       };
       again:
       atomic {
           prepared_life = 0;
           incarnation = 0;
           highest = 0;
           merged[0] = 0;
           merged_life[0] = 0;
#if FORGETFUL > 1
           merged[1] = 0;
           merged_life[1] = 0;
#endif
           asked = 0;
           node = 0
       }
    od
}
