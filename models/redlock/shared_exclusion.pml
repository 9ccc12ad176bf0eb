// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Readers and a writer exclude each other over a majority of three nodes. One clock ticks for all
// leases and all clients. docs/contributing/models.md describes the model.
//
// A writer and two readers acquire once each, and renew up to RENEWALS times. The leases of the
// writer and of the first reader last two ticks, that of the second reader one tick. A renewal sets
// what is missing at a node, as an acquire does. Requests and replies are lost. With -DRELEASES the
// releases of a client that has given up may be executed at any later time, or never. With
// -DDOWNGRADE there is one reader, and the writer may become a reader instead of renewing: a node
// makes its key an entry. With -DSECOND_WRITER the client 1 is not a reader but another writer.
//
// long   acquires -DRENEWALS=0
// holds  renewals -DREADERS=1 -DRELEASES
// holds  downgrade -DDOWNGRADE
// holds  downgrade_and_writer -DDOWNGRADE -DSECOND_WRITER
// breaks one_end_for_all readers_exclude_writer -DRENEWALS=0 -DONE_END_FOR_ALL
// breaks counted readers_exclude_writer -DRENEWALS=0 -DRELEASES -DCOUNTED
// breaks writers_only readers_exclude_writer -DRENEWALS=0 -DWRITERS_ONLY
// breaks reader_at_one_node readers_exclude_writer -DRENEWALS=0 -DREADER_AT_ONE_NODE
// breaks healed_over_readers readers_exclude_writer -DREADERS=1 -DLOSES_KEY -DHEALED_OVER_READERS
// breaks shared_late readers_exclude_writer -DDOWNGRADE -DSHARED_LATE
// breaks exclusive_again readers_exclude_writer -DDOWNGRADE -DEXCLUSIVE_AGAIN
// breaks unseen readers_exclude_writer -DDOWNGRADE -DSECOND_WRITER -DUNSEEN

#ifdef DOWNGRADE
#define READERS 1
#define RENEWALS 0
#endif
#ifndef READERS
#define READERS 2
#endif
#ifndef RENEWALS
#define RENEWALS 1
#endif
#define NODES 3
#define MAJORITY 2
#define ALL_NODES 7  // as a set of bits
#define CLIENTS (READERS + 1)
#define WRITER 0
#define TTL(c) ((c) == 2 -> 1 : 2)
#define IS_IN(set, i) (((set) >> (i)) & 1)

// Each node: the ticks until the writer's key and each reader's entry end.
byte left[CLIENTS * NODES];
#define LEFT(c, node) left[(c) * NODES + (node)]
#if defined(COUNTED) || defined(ONE_END_FOR_ALL)
byte readers_left[NODES];
byte number[NODES];              // of readers
bool was_repeated[CLIENTS * NODES];  // a release
#endif

// Each client: the request that is under way, and the hold.
byte asked[CLIENTS];     // a set of nodes
byte votes[CLIENTS];
byte elapsed[CLIENTS];   // the ticks since the first node was asked
byte believed[CLIENTS];  // the ticks until the client's deadline; 0: it holds nothing
byte renewals[CLIENTS];
bool is_asking[CLIENTS];
bool has_asked[CLIENTS];
#ifdef DOWNGRADE
bool asks_shared;      // the writer's requests are those of a reader
bool is_shared;        // the writer believes only in a reader's hold
bool is_entry[NODES];  // what the node has of the writer
#endif
hidden byte ttl;

// The properties. Each is true, or the search ends.
hidden byte readers_exclude_writer;

#if READERS > 1
#define IS_READ (believed[1] > 0 || believed[2] > 0)
#else
#define IS_READ (believed[1] > 0)
#endif
#ifdef SECOND_WRITER
#define IS_WRITER_1 1
#else
#define IS_WRITER_1 0
#endif
#ifdef DOWNGRADE
#define EXCLUDES (IS_WRITER_1 || !is_shared)
#else
#define EXCLUDES true
#endif

#if defined(WRITERS_ONLY)
#define HAS_READERS(node) false
#elif defined(COUNTED)
#define HAS_READERS(node) (number[node] > 0)
#elif READERS > 1
#define HAS_READERS(node) (LEFT(1, node) > 0 || LEFT(2, node) > 0)
#else
#define HAS_READERS(node) (LEFT(1, node) > 0)
#endif
#ifdef DOWNGRADE
#define OTHER(c) (1 - (c))
#define IS_ENTRY(c, node) ((c) == WRITER -> is_entry[node] : !IS_WRITER_1)
#define ASKS_SHARED(c) ((c) == WRITER -> asks_shared : !IS_WRITER_1)
#ifdef UNSEEN
#define IS_SEEN(c, node) (LEFT(c, node) > 0 && !IS_ENTRY(c, node))
#else
#define IS_SEEN(c, node) (LEFT(c, node) > 0)
#endif
#define MAY_SET(c, node) \
    (!IS_SEEN(OTHER(c), node) || (ASKS_SHARED(c) && IS_ENTRY(OTHER(c), node)))
#elif defined(HEALED_OVER_READERS)
#define MAY_SET(c, node) \
    (LEFT(WRITER, node) == 0 && (c != WRITER || is_renewal || !HAS_READERS(node)))
#else
#define MAY_SET(c, node) (LEFT(WRITER, node) == 0 && (c != WRITER || !HAS_READERS(node)))
#endif
#ifdef READER_AT_ONE_NODE
#define NEEDED(c) (c == WRITER -> MAJORITY : 1)
#else
#define NEEDED(c) MAJORITY
#endif

inline set_key(c, node) {
    ttl = TTL(c);
#if defined(COUNTED)
    if
    :: c != WRITER && LEFT(c, node) == 0 -> number[node]++
    :: else
    fi;
    if
    :: c != WRITER && readers_left[node] < ttl -> readers_left[node] = ttl
    :: else
    fi;
#elif defined(ONE_END_FOR_ALL)
    if
    :: c != WRITER -> readers_left[node] = ttl
    :: else
    fi;
#endif
    LEFT(c, node) = ttl
#ifdef DOWNGRADE
    ;
    if
    :: c == WRITER -> is_entry[node] = asks_shared
    :: else
    fi
#endif
}

inline pick_node(node, c) {
    if
    :: !IS_IN(asked[c], 0) -> node = 0
    :: !IS_IN(asked[c], 1) -> node = 1
    :: !IS_IN(asked[c], 2) -> node = 2
    fi;
    asked[c] = asked[c] | (1 << node)
}

inline begin(c) {
    is_asking[c] = true;
    elapsed[c] = 0;
    votes[c] = 0
}

proctype Client(byte c) {
    byte node;
    bool is_renewal;
    end:
    do
    :: atomic { !has_asked[c] -> has_asked[c] = true; begin(c) }
    :: atomic {
           believed[c] > 0 && !is_asking[c] && renewals[c] < RENEWALS ->
           renewals[c]++;
           is_renewal = true;
           begin(c)
       }
#ifdef DOWNGRADE
    :: atomic {
           c == WRITER && believed[c] > 0 && !is_asking[c] && !asks_shared ->
           asks_shared = true;
#ifndef SHARED_LATE
           is_shared = true;
#endif
           is_renewal = true;
           begin(c)
       }
#endif
    :: atomic { believed[c] > 0 && !is_asking[c] -> believed[c] = 0; renewals[c] = RENEWALS }
    :: atomic {
           is_asking[c] && asked[c] != ALL_NODES ->
           pick_node(node, c);
           if
           :: MAY_SET(c, node) || (is_renewal && LEFT(c, node) > 0) ->
              set_key(c, node);
              if
              :: votes[c]++
              :: true  // the reply is lost
              fi
           :: true  // refused, or the request is lost
           fi;
           node = 0
       }
    :: atomic {
           is_asking[c] && asked[c] == ALL_NODES ->
           ttl = TTL(c);
           if
           :: votes[c] >= NEEDED(c) && elapsed[c] < ttl && (!is_renewal || believed[c] > 0) ->
              believed[c] = (ttl - elapsed[c] > believed[c] -> ttl - elapsed[c] : believed[c])
           :: else
           fi;
#if defined(SHARED_LATE)
           if
           :: c == WRITER && asks_shared && votes[c] >= MAJORITY -> is_shared = true
           :: else
           fi;
#elif defined(EXCLUSIVE_AGAIN)
           if
           :: c == WRITER && asks_shared && votes[c] < MAJORITY -> is_shared = false
           :: else
           fi;
#endif
           readers_exclude_writer = believed[WRITER] == 0 || !IS_READ || !EXCLUDES;
           assert(readers_exclude_writer);
           is_renewal = false;
           is_asking[c] = false;
           asked[c] = 0;
           elapsed[c] = 0;
           votes[c] = 0
       }
#ifdef RELEASES
    :: atomic {
           believed[c] == 0 && !is_asking[c] && has_asked[c] ->
           if
           :: node = 0
           :: node = 1
           :: node = 2
           fi;
#ifdef COUNTED
           if
           :: c == WRITER -> LEFT(c, node) = 0
           :: c != WRITER && number[node] > 0 &&
                  (LEFT(c, node) > 0 || !was_repeated[c * NODES + node]) ->
              number[node]--;
              was_repeated[c * NODES + node] = LEFT(c, node) == 0;
              LEFT(c, node) = 0
           :: else
           fi;
#else
           LEFT(c, node) = 0;
#endif
           node = 0
       }
#endif
    od
}

inline count_down(ticks) {
    if
    :: ticks > 0 -> ticks--
    :: else
    fi
}

inline tick_node(node) {
    count_down(LEFT(WRITER, node));
#if defined(COUNTED) || defined(ONE_END_FOR_ALL)
    count_down(readers_left[node]);
    if
    :: readers_left[node] == 0 ->
       number[node] = 0;
       LEFT(1, node) = 0;
       LEFT(2, node) = 0
    :: else
    fi
#else
    count_down(LEFT(1, node));
#if READERS > 1
    count_down(LEFT(2, node))
#endif
#endif
}

inline tick_client(c) {
    count_down(believed[c]);
    if
    :: is_asking[c] && elapsed[c] < 2 -> elapsed[c]++
    :: else
    fi
}

proctype Clock() {
#ifdef LOSES_KEY
    bool was_lost;
#endif
    end:
    do
    :: atomic {
           tick_node(0);
           tick_node(1);
           tick_node(2);
           tick_client(0);
           tick_client(1);
#if READERS > 1
           tick_client(2)
#endif
       }
#ifdef LOSES_KEY
    // The writer's key vanishes at a node, and the hold keeps its majority.
    :: atomic {
           !was_lost && !is_asking[WRITER] && believed[WRITER] > 0 &&
               LEFT(WRITER, 1) >= believed[WRITER] && LEFT(WRITER, 2) >= believed[WRITER] ->
           was_lost = true;
           LEFT(WRITER, 0) = 0
       }
#endif
    od
}

init {
    atomic {
        run Client(0);
        run Client(1);
#if READERS > 1
        run Client(2);
#endif
        run Clock()
    }
}
