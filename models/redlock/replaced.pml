// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Two live servers answer to the name of one node: its old server runs on, and some clients still
// reach it. Without any clock. docs/contributing/models.md describes the model.
//
// Servers 0, 1 and 2 are the nodes 0, 1 and 2 of a set. Server 3 is new, and answers to the name of
// node 0 as well. Each acquire reaches one of the two. Clients let the servers join, JOINS times in
// all, so that each of the two can replace the other one. With -DA_FORGETS server 0 may lose its
// memory once, with -DB_FORGETS server 1 does, and joins again. With -DALL_ARRIVE no reply is lost;
// a request may be lost, or find the lock taken. With -DIN_ONE_STEP a server joins in one step.
//
// holds  one_replaces -DJOINS=1
// holds  each_replaces -DJOINS=2 -DALL_ARRIVE -DIN_ONE_STEP
// breaks without_nonces tokens_are_distinct -DALL_ARRIVE -DIN_ONE_STEP -DMARKS_WITHOUT_NONCE
// breaks order_lost later_token_is_larger -DALL_ARRIVE -DORDER_ONLY -DMARKS_WITHOUT_NONCE
// breaks same_nonce tokens_are_distinct -DJOINS=2 -DALL_ARRIVE -DIN_ONE_STEP -DKEEPS_NONCE

#ifndef ACQUIRES
#define ACQUIRES 2
#endif
#ifndef JOINS
#define JOINS 1
#endif

#include "_quorum.pml"

// Nodes 0 and 1 can be replaced, or lose their memory.
#define SERVERS 4
#define REPLACEABLE 2
#define AT(which, server) ((which) * SERVERS + (server))

// Each server: the key of the lock, which is OWNER:COUNT, its counter, the least counter since it
// has joined, and the nonce of its memory.
byte owner[SERVERS];
byte count[SERVERS];
byte counter[SERVERS];
byte floor[SERVERS];
byte nonce[SERVERS];
bool is_member[SERVERS];
byte incarnation[SERVERS];
// What each server knows of the replaceable nodes.
byte mark[REPLACEABLE * SERVERS];
byte mark_nonce[REPLACEABLE * SERVERS];

// Not part of the system.
byte last_nonce;
byte joins;
bool has_forgotten;
hidden byte next;

#define COUNTER(server) (counter[server] < floor[server] -> floor[server] : counter[server])

inline grant(acquirer, server) {
    next = COUNTER(server) + 1;
    counter[server] = next;
    owner[server] = acquirer;
    count[server] = next
}

inline raise_to(server, token) {
    if
    :: COUNTER(server) < token -> counter[server] = token
    :: else
    fi
}

#ifdef MARKS_WITHOUT_NONCE
#define IS_OTHER(known, own) true
#define IS_NOT_EARLIER(known, own) ((known) > (own))
#else
#define IS_OTHER(known, own) ((known) != (own))
#define IS_NOT_EARLIER(known, own) ((known) >= (own))
#endif

// A member of the quorum has heard of another memory of the node that is not an earlier one.
#define KNOWS_LATER(which, node) \
    (IS_IN(quorum, node) && \
     IS_OTHER(said_nonce[(which) * NODES + (node)], granted_nonce[which]) && \
     IS_NOT_EARLIER(said[(which) * NODES + (node)], said_own[which]))
#define IS_OUTDATED(which) \
    (IS_IN(quorum, which) && (KNOWS_LATER(which, 1 - (which)) || KNOWS_LATER(which, 2)))
#define VOTES (SIZE(quorum) - IS_OUTDATED(0) - IS_OUTDATED(1))

inline note_reply(node, server) {
    said_own[node] = incarnation[server];
    said[node] = mark[AT(0, server)];
    said_nonce[node] = mark_nonce[AT(0, server)];
    said[NODES + node] = mark[AT(1, server)];
    said_nonce[NODES + node] = mark_nonce[AT(1, server)]
}

inline forget_replies() {
    node = 0;
    do
    :: node < NODES ->
       granted[node] = 0;
       granted_nonce[node] = 0;
       said_own[node] = 0;
       said[node] = 0;
       said_nonce[node] = 0;
       said[NODES + node] = 0;
       said_nonce[NODES + node] = 0;
       node++
    :: else -> break
    od;
    node = 0
}

#define SERVER_OF(node) ((node) == 0 -> first_server : (node))

proctype Acquire(byte a) {
    byte first_server;    // that answers to the name of node 0
    byte granted[NODES];  // the count of each node that granted it
    byte granted_nonce[NODES];
    byte said_own[NODES];
    byte said[REPLACEABLE * NODES];
    byte said_nonce[REPLACEABLE * NODES];
    byte asked;
    byte node;
    byte server;
    byte quorum;
    byte token;
    byte newest_before;
    end:
    atomic {
        began == a - 1;
        began = a;
        newest_before = newest_token[0];
        if
        :: first_server = 0
        :: first_server = 3
        fi
    };
    do
    :: atomic {
           asked != ALL_NODES ->
           pick_node(node, asked);
           server = SERVER_OF(node);
           if
           :: is_member[server] ->
              grant(a, server);
              if
              :: granted[node] = count[server];
                 granted_nonce[node] = nonce[server];
                 note_reply(node, server)
#ifndef ALL_ARRIVE
              :: true  // the reply is lost
#endif
              fi
           :: true  // the lock is taken, or the request is lost
           fi;
           node = 0;
           server = 0
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
           server = SERVER_OF(node);
           if
           :: is_member[server] && nonce[server] == granted_nonce[node] && owner[server] == a &&
              count[server] == granted[node] ->
              raise_to(server, token);
              count[server] = token;
              if
              :: quorum = quorum | (1 << node); note_reply(node, server)
#ifndef ALL_ARRIVE
              :: true  // the reply is lost
#endif
              fi
           :: true  // refused, or the request is lost
           fi;
           node = 0;
           server = 0
       }
    od;
    atomic { check_token(0, token, newest_before) };
    ended_:
    atomic {
        asked = 0;
        quorum = 0;
        token = 0;
        newest_before = 0;
        first_server = 0;
        forget_replies()
    }
}

// Another member has heard of another memory of this node that is not an earlier one.
#define SEES_LATER(which, server, other) \
    (is_member[other] && IS_OTHER(mark_nonce[AT(which, other)], nonce[server]) && \
     IS_NOT_EARLIER(mark[AT(which, other)], incarnation[server]))

// A server loses its memory, or gives it up.
inline forget(server) {
    owner[server] = 0;
    count[server] = 0;
    counter[server] = 0;
    give_up(server)
}

inline give_up(server) {
    is_member[server] = false;
    incarnation[server] = 0;
    floor[server] = 0;
    mark[AT(0, server)] = 0;
    mark_nonce[AT(0, server)] = 0;
    mark[AT(1, server)] = 0;
    mark_nonce[AT(1, server)] = 0;
    last_nonce++;
    nonce[server] = last_nonce
}

inline merge(which, server) {
    if
    :: mark[AT(which, server)] > merged[which] ->
       merged[which] = mark[AT(which, server)];
       merged_nonce[which] = mark_nonce[AT(which, server)]
    :: mark[AT(which, server)] == merged[which] &&
       mark_nonce[AT(which, server)] != merged_nonce[which] ->
       merged_nonce[which] = 255  // of no memory
    :: else
    fi
}

#ifdef ACCEPTS_ANY_MARK
#define ACCEPTS(which, server) (mark[AT(which, server)] <= new_incarnation)
#elif defined(MARKS_WITHOUT_NONCE)
#define ACCEPTS(which, server) true
#else
#define ACCEPTS(which, server) \
    (mark[AT(which, server)] < new_incarnation || mark_nonce[AT(which, server)] == prepared)
#endif

#ifdef COUNTS_OUTDATED
#define IS_CONSISTENT true
#else
#define IS_CONSISTENT \
    (!(IS_OTHER(heard_nonce, marked_nonce) && IS_NOT_EARLIER(heard, marked)))
#endif

inline mark_at(which, other) {
    if
    :: is_member[other] && ACCEPTS(which, other) ->
       at_least(mark[AT(which, other)], new_incarnation);
       mark_nonce[AT(which, other)] = prepared;
       next = COUNTER(other);
       at_least(highest, next);
       merge(0, other);
       merge(1, other)
    :: else -> goto again
    fi
}

// A client lets a server join as node `of`. It asks the two other nodes: node 2, and the server
// that it reaches as the third one.
proctype Driver(byte which; byte target; byte third) {
    byte prepared;
    byte new_incarnation;
    byte highest;
    byte merged[REPLACEABLE];
    byte merged_nonce[REPLACEABLE];
    // The incarnation and the nonce of the third one when it was marked, and what node 2 knew of
    // it.
    byte marked;
    byte marked_nonce;
    byte heard;
    byte heard_nonce;
    byte asked;
    end:
    do
    :: atomic {
           joins < JOINS && !is_member[target] && is_member[third] && is_member[2] ->
           joins++;
           prepared = nonce[target];
           new_incarnation = mark[AT(which, third)] + (mark_nonce[AT(which, third)] != prepared);
           next = mark[AT(which, 2)] + (mark_nonce[AT(which, 2)] != prepared);
           at_least(new_incarnation, next)
#ifdef IN_ONE_STEP
           ;
           mark_at(which, 2);
           heard = mark[AT(1 - which, 2)];
           heard_nonce = mark_nonce[AT(1 - which, 2)];
           mark_at(which, third);
           marked = incarnation[third];
           marked_nonce = nonce[third];
#else
       };
       do
       :: atomic {
              !(asked & 1) ->
              asked = asked | 1;
              mark_at(which, 2);
              heard = mark[AT(1 - which, 2)];
              heard_nonce = mark_nonce[AT(1 - which, 2)]
          }
       :: atomic {
              !(asked & 2) ->
              asked = asked | 2;
              mark_at(which, third);
              marked = incarnation[third];
              marked_nonce = nonce[third]
          }
       :: atomic { asked == 3 -> break }
       od;
       atomic {
#endif
           if
           :: IS_CONSISTENT && nonce[target] == prepared && !is_member[target] ->
              is_member[target] = true;
              incarnation[target] = new_incarnation;
              floor[target] = highest;
              mark[AT(0, target)] = merged[0];
              mark_nonce[AT(0, target)] = merged_nonce[0];
              mark[AT(1, target)] = merged[1];
              mark_nonce[AT(1, target)] = merged_nonce[1];
              mark[AT(which, target)] = new_incarnation;
              mark_nonce[AT(which, target)] = prepared
           :: else
           fi
       };
       again:
       atomic {
           prepared = 0;
           new_incarnation = 0;
           highest = 0;
           merged[0] = 0;
           merged[1] = 0;
           merged_nonce[0] = 0;
           merged_nonce[1] = 0;
           marked = 0;
           marked_nonce = 0;
           heard = 0;
           heard_nonce = 0;
           asked = 0
       }
    od
}

// An outdated server must not vote as it is. It joins again as after a loss.
#ifdef MARKS_WITHOUT_NONCE
// The rule of an earlier version: it takes over the later incarnation, and goes on.
#define REPLACE(server) \
    atomic { \
        is_member[server] && (SEES_LATER(0, server, 1) || SEES_LATER(0, server, 2)) -> \
        at_least(incarnation[server], mark[AT(0, 1)]); \
        at_least(incarnation[server], mark[AT(0, 2)]) \
    }
#elif defined(KEEPS_NONCE)
#define REPLACE(server) \
    atomic { \
        is_member[server] && (SEES_LATER(0, server, 1) || SEES_LATER(0, server, 2)) -> \
        is_member[server] = false \
    }
#else
#define REPLACE(server) \
    atomic { \
        is_member[server] && (SEES_LATER(0, server, 1) || SEES_LATER(0, server, 2)) -> \
        give_up(server) \
    }
#endif

proctype Replacements() {
    end:
    do
    :: REPLACE(0)
    :: REPLACE(3)
#ifdef A_FORGETS
    :: atomic { !has_forgotten && is_member[0] -> has_forgotten = true; forget(0) }
#endif
#ifdef B_FORGETS
    :: atomic { !has_forgotten && is_member[1] -> has_forgotten = true; forget(1) }
#endif
    od
}

init {
    atomic {
        byte i;
        do
        :: i < NODES ->
           is_member[i] = true;
           nonce[i] = i + 1;
           incarnation[i] = 1;
           floor[i] = 1;
           mark[AT(0, i)] = 1;
           mark_nonce[AT(0, i)] = 1;
           mark[AT(1, i)] = 1;
           mark_nonce[AT(1, i)] = 2;
           i++
        :: else -> break
        od;
        last_nonce = 4;
        nonce[3] = last_nonce;
        run Driver(0, 3, 1);
#if JOINS > 1
        run Driver(0, 0, 1);
#endif
#ifdef B_FORGETS
        // The first client still reaches the old server of node 0.
        run Driver(1, 1, 0);
        run Driver(1, 1, 3);
#endif
        i = 1;
        do
        :: i <= ACQUIRES -> run Acquire(i); i++
        :: else -> break
        od;
        i = 0;
        run Replacements()
    }
}
