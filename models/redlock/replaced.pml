// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Two live servers answer to the name of one node: its old server runs on, and some clients still
// reach it. Without any clock. docs/contributing/models.md describes the model.
//
// Servers 0, 1 and 2 are the nodes 0, 1 and 2 of a set. Server 3 is new, and answers to the name of
// node 0 as well. Each acquire reaches one of the two. Clients let the servers join, JOINS times in
// all, so that each of the two can replace the other one. With -DALL_ARRIVE no reply is lost; a
// request may be lost, or find the lock taken. With -DIN_ONE_STEP a server joins in one step.
//
// full   one_replaces -DJOINS=1
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

#define SERVERS 4

// Each server: the key of the lock, which is OWNER:COUNT, its counter, the least counter since it
// has joined, and the nonce of its memory.
byte owner[SERVERS];
byte count[SERVERS];
byte counter[SERVERS];
byte floor[SERVERS];
byte nonce[SERVERS];
bool is_member[SERVERS];
byte incarnation[SERVERS];
// What each server knows of node 0.
byte mark[SERVERS];
byte mark_nonce[SERVERS];

// Not part of the system.
byte last_nonce;
byte joins;
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

// A member of the quorum has heard of another memory of node 0 that is not an earlier one.
#define KNOWS_LATER(node) \
    (IS_IN(quorum, node) && IS_OTHER(said_nonce[node], granted_nonce[0]) && \
     IS_NOT_EARLIER(said[node], said_own[0]))
#define IS_OUTDATED (IS_IN(quorum, 0) && (KNOWS_LATER(1) || KNOWS_LATER(2)))
#define VOTES (SIZE(quorum) - IS_OUTDATED)

inline note_reply(node, server) {
    said_own[node] = incarnation[server];
    said[node] = mark[server];
    said_nonce[node] = mark_nonce[server]
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
    byte said[NODES];
    byte said_nonce[NODES];
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

// Another member has heard of another memory of node 0 that is not an earlier one.
#define SEES_LATER(server, other) \
    (is_member[other] && IS_OTHER(mark_nonce[other], nonce[server]) && \
     IS_NOT_EARLIER(mark[other], incarnation[server]))

inline give_up(server) {
    is_member[server] = false;
    incarnation[server] = 0;
    floor[server] = 0;
    mark[server] = 0;
    mark_nonce[server] = 0;
    last_nonce++;
    nonce[server] = last_nonce
}

#ifdef MARKS_WITHOUT_NONCE
#define ACCEPTS(server) true
#else
#define ACCEPTS(server) \
    (mark[server] < new_incarnation || mark_nonce[server] == prepared)
#endif

inline mark_at(other) {
    if
    :: is_member[other] && ACCEPTS(other) ->
       at_least(mark[other], new_incarnation);
       mark_nonce[other] = prepared;
       next = COUNTER(other);
       at_least(highest, next)
    :: else -> goto again
    fi
}

// A client lets a server join as node 0. It asks the two other nodes.
proctype Driver(byte target) {
    byte prepared;
    byte new_incarnation;
    byte highest;
    byte asked;
    end:
    do
    :: atomic {
           joins < JOINS && !is_member[target] ->
           joins++;
           prepared = nonce[target];
           new_incarnation = mark[1] + (mark_nonce[1] != prepared);
           next = mark[2] + (mark_nonce[2] != prepared);
           at_least(new_incarnation, next)
#ifdef IN_ONE_STEP
           ;
           mark_at(2);
           mark_at(1);
#else
       };
       do
       :: atomic { !(asked & 1) -> asked = asked | 1; mark_at(2) }
       :: atomic { !(asked & 2) -> asked = asked | 2; mark_at(1) }
       :: atomic { asked == 3 -> break }
       od;
       atomic {
#endif
           if
           :: nonce[target] == prepared && !is_member[target] ->
              is_member[target] = true;
              incarnation[target] = new_incarnation;
              floor[target] = highest;
              mark[target] = new_incarnation;
              mark_nonce[target] = prepared
           :: else
           fi
       };
       again:
       atomic {
           prepared = 0;
           new_incarnation = 0;
           highest = 0;
           asked = 0
       }
    od
}

// An outdated server must not vote as it is. It joins again as after a loss.
#ifdef MARKS_WITHOUT_NONCE
// The rule of an earlier version: it takes over the later incarnation, and goes on.
#define REPLACE(server) \
    atomic { \
        is_member[server] && (SEES_LATER(server, 1) || SEES_LATER(server, 2)) -> \
        at_least(incarnation[server], mark[1]); \
        at_least(incarnation[server], mark[2]) \
    }
#elif defined(KEEPS_NONCE)
#define REPLACE(server) \
    atomic { \
        is_member[server] && (SEES_LATER(server, 1) || SEES_LATER(server, 2)) -> \
        is_member[server] = false \
    }
#else
#define REPLACE(server) \
    atomic { \
        is_member[server] && (SEES_LATER(server, 1) || SEES_LATER(server, 2)) -> \
        give_up(server) \
    }
#endif

proctype Replacements() {
    end:
    do
    :: REPLACE(0)
    :: REPLACE(3)
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
           mark[i] = 1;
           mark_nonce[i] = 1;
           i++
        :: else -> break
        od;
        last_nonce = 4;
        nonce[3] = last_nonce;
        run Driver(3);
#if JOINS > 1
        run Driver(0);
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
