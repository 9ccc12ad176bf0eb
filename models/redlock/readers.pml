// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The tokens of readers and writers over three nodes, without any clock.
// docs/contributing/models.md describes the model.
//
// READERS says which acquires are of readers, as a set of bits. A reader's entry at a node is
// OWNER:COUNTER. A grant to a reader does not raise the counter, but its confirmation does. The key
// of a writer and each reader's entry may vanish at any instant: a grant finds the others gone.
// Requests and replies are lost. With -DRENEW each hold is renewed once. With -DAPART the
// counter of node 0 has been raised by a writer that got nothing else.
//
// With -DMARKS a node's lock key is a writer's or a mark that says "readers". Entries count only
// while the key is the mark, and a reader that sets the mark deletes the old ones. Without -DMARKS
// a writer's grant deletes them, which has the same effect.
//
// With -DDOWNGRADE the first acquire is a writer's that becomes a reader instead of renewing. With
// -DLATE its acquire requests are executed late or twice. With -DFIRST_RENEWS only the first hold
// is renewed.
//
// With -DGROUPS, which needs -DMARKS, the reader that sets the mark raises the counter.
//
// full   around_a_writer -DACQUIRES=3 -DREADERS=10
// holds  renewals -DREADERS=2 -DAPART -DRENEW
// holds  late_reader -DREADERS=2 -DAPART -DFIRST_RENEWS -DLATE
// holds  marks -DREADERS=2 -DAPART -DRENEW -DMARKS
// full   downgrade -DREADERS=0 -DFIRST_RENEWS -DDOWNGRADE -DLATE
// holds  downgrade_and_reader -DREADERS=4 -DRENEW -DDOWNGRADE
// holds  groups -DREADERS=4 -DRENEW -DMARKS -DGROUPS
// long   groups_around_a_writer -DACQUIRES=3 -DREADERS=10 -DMARKS -DGROUPS
// breaks not_confirmed later_token_is_larger -DREADERS=2 -DAPART -DUNCONFIRMED -DORDER_ONLY
// breaks not_confirmed_before reader_is_before_writer -DREADERS=2 -DAPART -DUNCONFIRMED
// breaks confirmed_unseen reader_is_before_writer -DREADERS=2 -DAPART -DCONFIRM_ALWAYS
// breaks healed_always renewal_has_newest_token -DREADERS=2 -DRENEW -DHEAL_ALWAYS
// breaks renewed_by_owner renewal_has_newest_token -DREADERS=2 -DRENEW -DLATE -DANY_NUMBER
// breaks without_mark renewal_has_newest_token -DREADERS=2 -DRENEW -DMARKS -DWITHOUT_MARK
// breaks stale renewal_has_newest_token -DACQUIRES=3 -DREADERS=10 -DFIRST_RENEWS -DMARKS -DSTAY
// breaks group_unraised reader_is_after_writer -DREADERS=4 -DMARKS -DGROUPS -DUNRAISED
// breaks by_owner renewal_has_newest_token -DREADERS=0 -DFIRST_RENEWS -DDOWNGRADE -DLATE -DBY_OWNER
// breaks writers_unconfirmed tokens_are_distinct -DREADERS=0 -DWRITERS_UNCONFIRMED

#ifndef ACQUIRES
#define ACQUIRES 2
#endif
#ifdef FIRST_RENEWS
#define RENEW
#endif
#include "_quorum.pml"
#define IS_READER(a) IS_IN(READERS, a)
#ifdef DOWNGRADE
#define IS_DOWNGRADED(a) ((a) == 1)
#else
#define IS_DOWNGRADED(a) false
#endif

// Each node: the writer's key, which is OWNER:COUNT, the counter, and the readers' entries: the
// counter at that time + 1, or 0 for none.
byte owner[NODES];
byte count[NODES];
byte counter[NODES];
byte entry[(ACQUIRES + 1) * NODES];
#define ENTRY(a, node) entry[(a) * NODES + (node)]
#ifdef MARKS
bool mark[NODES];
#endif

// Not part of the system.
byte token_of[ACQUIRES + 1];     // + 1; 0: none
byte asked_before[ACQUIRES + 1];  // the reader had asked all nodes before this acquire began
#if defined(RENEW) || defined(GROUPS)
#define KEEPS_NEWEST_OF_WRITERS
byte newest_of_writers;
#endif
#ifdef LATE
bool late_acquire[NODES];  // of the first acquire
#endif

// The properties. Each is true, or the search ends.
hidden byte reader_is_before_writer;
hidden byte reader_is_after_writer;
hidden byte renewal_has_newest_token;

inline clear_entries(node) {
    entry[NODES + node] = 0;
    entry[2 * NODES + node] = 0
#if ACQUIRES > 2
    ;
    entry[3 * NODES + node] = 0
#endif
}

// The key of a writer has vanished, or the mark is there or has vanished, too.
inline set_mark(node, is_acquire) {
    owner[node] = 0;
    count[node] = 0
#ifdef MARKS
    ;
    if
#ifndef STAY
    :: !mark[node] ->
       clear_entries(node)
#if defined(GROUPS) && !defined(UNRAISED)
       ;
       if
       :: is_acquire -> counter[node] = counter[node] + 1
       :: else
       fi
#endif
#endif
    :: else
    fi;
    mark[node] = true
#endif
}

// The mark has vanished.
inline set_writer(a, node, its_count) {
    owner[node] = a;
    count[node] = its_count;
#ifdef MARKS
    mark[node] = false
#else
    clear_entries(node)
#endif
}

inline grant(a, node) {
    if
    :: IS_READER(a) -> set_mark(node, true); ENTRY(a, node) = counter[node] + 1
    :: else ->
       counter[node] = counter[node] + 1;
       set_writer(a, node, counter[node])
    fi
}

#define GRANTED(node) (counter[node] + 1)
// Without a renewal, an entry whose reply is lost does nothing.
#ifdef RENEW
#define LOSES_REPLY(a) true
#else
#define LOSES_REPLY(a) (!IS_READER(a))
#endif

#if defined(MARKS) && !defined(WITHOUT_MARK)
#define HAS_MARK(node) mark[node]
#else
#define HAS_MARK(node) true
#endif

#ifdef CONFIRM_ALWAYS
#define HAS_ENTRY(a, node) true
#else
#define HAS_ENTRY(a, node) (HAS_MARK(node) && ENTRY(a, node) == granted[node])
#endif
#define CAN_CONFIRM(a, node) \
    ((IS_READER(a) && HAS_ENTRY(a, node)) || \
     (!IS_READER(a) && owner[node] == a && count[node] + 1 == granted[node]))

#ifdef HEAL_ALWAYS
#define MAY_HEAL(node) true
#else
#define MAY_HEAL(node) (counter[node] < token)
#endif

#ifdef ANY_NUMBER
#define CAN_RENEW_ENTRY(a, node) (HAS_MARK(node) && ENTRY(a, node) > 0)
#else
#define CAN_RENEW_ENTRY(a, node) (HAS_MARK(node) && ENTRY(a, node) > 0 && ENTRY(a, node) <= token)
#endif
#define CAN_RENEW_KEY(a, node) (owner[node] == a && counter[node] < token)
#ifdef BY_OWNER
#define CAN_DOWNGRADE(a, node) (IS_DOWNGRADED(a) && owner[node] == a)
#else
#define CAN_DOWNGRADE(a, node) (IS_DOWNGRADED(a) && CAN_RENEW_KEY(a, node))
#endif
#define RENEWS_AS_READER(a) (IS_READER(a) || IS_DOWNGRADED(a))

// A reader that had asked all nodes before a writer began has a smaller token.
#define IS_IN_ORDER(reader, writer) \
    (!IS_READER(reader) || IS_READER(writer) || token_of[reader] == 0 || token_of[writer] == 0 || \
     asked_before[reader] == 0 || asked_before[reader] > (writer) || \
     token_of[reader] < token_of[writer])

inline check_readers() {
    reader_is_before_writer = IS_IN_ORDER(1, 2);
#ifndef ORDER_ONLY
    assert(reader_is_before_writer);
#endif
#if ACQUIRES > 2
    reader_is_before_writer = IS_IN_ORDER(1, 3) && IS_IN_ORDER(2, 3);
    assert(reader_is_before_writer);
#endif
}

proctype Acquire(byte a) {
    byte granted[NODES];  // the count of each node that granted it, + 1
    byte asked;
    byte node;
    byte quorum;
    byte token;  // + 1
    byte newest_before;
#ifdef GROUPS
    byte writer_before;
#endif
    atomic {
        began == a - 1;
        began = a;
        newest_before = newest_token[0]
#ifdef GROUPS
        ;
        writer_before = newest_of_writers
#endif
    };
    do
    :: atomic {
           asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: grant(a, node); granted[node] = GRANTED(node); at_least(token, granted[node])
           :: LOSES_REPLY(a) -> grant(a, node)  // the reply is lost
#ifdef LATE
           :: a == 1 -> late_acquire[node] = true
           :: a == 1 ->
              grant(a, node);
              granted[node] = GRANTED(node);
              at_least(token, granted[node]);
              late_acquire[node] = true  // sent twice
#endif
           :: true  // the lock is taken, or the request is lost
           fi;
           node = 0
       }
    :: atomic {
           asked == ALL_NODES ->
           asked_before[a] = began + 1;
           asked = 0;
           do
           :: node < NODES ->
              if
              :: granted[node] == 0 -> asked = asked | (1 << node)
              :: granted[node] > 0 && granted[node] == token ->
                 asked = asked | (1 << node);
                 quorum = quorum | (1 << node)
#ifdef UNCONFIRMED
              :: granted[node] > 0 && IS_READER(a) -> quorum = quorum | (1 << node)
#endif
#ifdef WRITERS_UNCONFIRMED
              :: granted[node] > 0 && !IS_READER(a) -> quorum = quorum | (1 << node)
#endif
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
    :: atomic { SIZE(quorum) >= MAJORITY -> break }
    :: atomic { SIZE(quorum) < MAJORITY && asked == ALL_NODES -> goto ended }
    :: atomic {
           SIZE(quorum) < MAJORITY && asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: CAN_CONFIRM(a, node) ->
              at_least(counter[node], token - 1);
              if
              :: IS_READER(a) -> ENTRY(a, node) = token
              :: else
              fi;
              if
              :: quorum = quorum | (1 << node)
              :: true  // the reply is lost
              fi
           :: true  // refused, or the request is lost
           fi;
           node = 0
       }
    od;
    atomic {
        if
        :: IS_READER(a) ->
           later_token_is_larger = token - 1 >= newest_before;
           assert(later_token_is_larger);
#ifdef GROUPS
           reader_is_after_writer = token - 1 > writer_before;
           assert(reader_is_after_writer);
#endif
           at_least(newest_token[0], token - 1)
        :: else ->
           check_token(0, token - 1, newest_before)
#ifdef KEEPS_NEWEST_OF_WRITERS
           ;
           at_least(newest_of_writers, token - 1)
#endif
        fi;
        token_of[a] = token;
        check_readers();
        asked = 0;
        quorum = 0;
        newest_before = 0;
        granted[0] = 0;
        granted[1] = 0;
        granted[2] = 0
    };
#ifdef RENEW
#ifdef FIRST_RENEWS
    if
    :: a > 1 -> goto ended
    :: else
    fi;
#endif
    atomic { newest_before = newest_of_writers };
    do
    :: atomic {
           asked != ALL_NODES ->
           pick_node(node, asked);
           if
           :: RENEWS_AS_READER(a) && (CAN_RENEW_ENTRY(a, node) || CAN_DOWNGRADE(a, node)) ->
              at_least(counter[node], token - 1);
              set_mark(node, false);
              ENTRY(a, node) = token;
              quorum = quorum | (1 << node)
           :: !RENEWS_AS_READER(a) && CAN_RENEW_KEY(a, node) ->
              at_least(counter[node], token - 1);
              quorum = quorum | (1 << node)
           :: MAY_HEAL(node) ->  // the key or the entry has vanished
              at_least(counter[node], token - 1);
              if
              :: RENEWS_AS_READER(a) -> set_mark(node, false); ENTRY(a, node) = token
              :: else -> set_writer(a, node, token - 1)
              fi;
              quorum = quorum | (1 << node)
           :: true
           fi;
           node = 0
       }
    :: atomic {
           asked == ALL_NODES ->
           renewal_has_newest_token = SIZE(quorum) < MAJORITY || newest_before < token;
           assert(renewal_has_newest_token);
           break
       }
    od;
#endif
    ended:
    atomic {
        asked = 0;
        node = 0;
        quorum = 0;
        token = 0;
        newest_before = 0;
        granted[0] = 0;
        granted[1] = 0;
        granted[2] = 0
    }
}

#ifdef LATE
#define EXECUTE_LATE(node) \
    atomic { late_acquire[node] -> late_acquire[node] = false; grant(1, node) }

proctype Late() {
    end:
    do
    :: EXECUTE_LATE(0)
    :: EXECUTE_LATE(1)
    :: EXECUTE_LATE(2)
    od
}
#endif

init {
    atomic {
        byte i = 1;
#ifdef APART
        counter[0] = 1;
#endif
        do
        :: i <= ACQUIRES -> run Acquire(i); i++
        :: else -> break
        od;
#ifdef LATE
        run Late();
#endif
        i = 0
    }
}
