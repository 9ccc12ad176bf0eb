// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// once: an operation that is carried out once over one record, with crashes, pauses and takeovers.
// docs/contributing/models.md describes the model.
//
// N callers repeat an operation. The record has a state, the token of the last claim, the claims so
// far, a lease and a result. Each statement is one step. There is no clock: `World` ends a lease at
// any moment, so a pause of any length at any point is covered. A crash is a caller that stops for
// ever; `Last`, the reconciliation, then claims what is left. A reply may be lost: the caller asks
// again.
//
// Callers of an operation claim only while `window` is its number. After the window the record may
// be purged, and the key may be used for the next operation; late attempts may still run then.
//
// The effect is in the transaction of the record's end. With -DOUT it is a write to an outside
// register, which keeps token and value and refuses a smaller token; the end is a later step. With
// -DDEDUPE the outside knows the operation by its key instead, and answers as the first time.
//
// holds  inside
// holds  outside -DOUT
// holds  outside_by_key -DOUT -DDEDUPE -DN=2
// long   outside_by_key_three_callers -DOUT -DDEDUPE
// long   inside_four_callers -DN=4
// long   outside_four_callers -DN=4 -DOUT
// breaks no_check one_effect -DNOTOKEN
// breaks state_only replay_is_its_result -DSTATEONLY
// breaks state_only_outside outside_is_recorded -DOUT -DSTATEONLY
// breaks same_token outside_is_recorded -DOUT -DSAMETOK
// breaks no_fence outside_is_recorded -DOUT -DNOFENCE
// breaks failure_deletes one_effect -DNOP5 -DMAXA=9 -DBLINDFAIL
// breaks keep_too_short one_effect -DNOP5 -DMAXA=9 -DEXPIRY
// breaks tokens_begin_again replay_is_its_result -DRESTART
// breaks tokens_begin_again_outside outside_is_recorded -DOUT -DRESTART
// breaks counted_at_the_end attempts_are_bounded -DNOATT
// breaks no_poison operation_ends -DNOPOISON
// limit  fence_alone one_effect_outside -DOUT -DONCE
// limit  outside_forgets one_effect_outside -DOUT -DDEDUPE -DFORGET
// holds  same_token_inside -DSAMETOK

#ifndef N
#define N 3  /* callers */
#endif
#ifndef MAXA
#define MAXA 3  /* claims of one operation */
#endif
#ifndef GENS
#define GENS 2  /* operations that use the key one after the other */
#endif

byte st, tok, att, res, rgen;
bit lease;
byte window = 1;  /* the operation whose callers may claim; 0: none */
byte gen = 1;  /* the present operation */
byte clock = 0;  /* where fresh tokens come from; never goes back */
byte eff[3];  /* TX: effects of operation g */
byte owner[3];  /* TX: the attempt that made the effect of operation g */
byte rtok, rval;  /* OUT: the register outside */
byte writes[3];  /* OUT: accepted writes of operation g */
byte kept[3];  /* DEDUPE: the value that the outside keeps for operation g */
byte runs[3];  /* claims of operation g */
byte aseq = 0;  /* numbers of attempts, 1, 2, … */
byte agen[16];  /* the operation of an attempt */
byte left = N;  /* callers that have not ended */


// The properties. Each is true, or the search ends.
hidden byte one_effect;            // inside: an operation has at most one effect
hidden byte replay_is_its_result;  // a replay has the result of its own operation's effect
hidden byte outside_is_recorded;   // once the record is done, the register keeps its value
hidden byte attempts_are_bounded;  // an operation is claimed MAXA times at most
hidden byte operation_ends;        // after the reconciliation, the record is final
hidden byte one_effect_outside;    // the outside accepts one write of an operation

#define CHECK(property, condition) property = (condition); assert(property)
#define P4 CHECK(outside_is_recorded, st != 2 || rval == res)

inline claim() {  /* one statement; sets got (1 claimed, 2 done, 3 failed, 0 pending) */
  atomic {
    got = 0;
    if
    :: window != g -> got = 4  /* too late: this caller does not ask any more */
#ifdef NOP5
    :: window == g && aseq == 5 && st != 2 -> got = 4  /* bounds the search without P5 */
#endif
    :: else ->
      if
      :: st == 2 -> got = 2; seen = res;
         CHECK(replay_is_its_result, agen[seen] == g && (mine == 0 || mine == seen))
#ifndef OUT
         ; CHECK(replay_is_its_result, seen == owner[g])
#endif
      :: st == 3 -> got = 3
      :: st == 0 || (st == 1 && !lease) ->
        if
        :: st == 1 && att >= MAXA ->  /* poison: no further attempt */
#ifdef NOPOISON
           got = 0
#else
           st = 3; got = 3
#endif
        :: else ->
          if
          :: st == 0 ->
#ifdef RESTART
             tok = 1;
#else
             clock++; tok = clock;
#endif
             att = 0; rgen = g
          :: else ->
#ifndef SAMETOK
             clock++;
             tok = (tok + 1 > clock -> tok + 1 : clock);
             clock = (tok > clock -> tok : clock)
#else
             skip
#endif
          fi;
          st = 1; lease = 1;
#ifndef NOATT
          att++;
#endif
          runs[g]++;
#ifndef NOP5
          CHECK(attempts_are_bounded, runs[g] <= MAXA);
#endif
          aseq++; a = aseq; agen[a] = g; mytok = tok; got = 1
        fi
      :: else -> skip  /* pending, the lease runs: wait */
      fi
    fi
  }
}

inline complete() {  /* one statement, in TX together with the effect; ok: it was mine */
  atomic {
#ifdef NOTOKEN
    ok = (st != 0);
#else
#ifdef STATEONLY
    ok = (st == 1);
#else
    ok = (st == 1 && tok == mytok);
#endif
#endif
    if
    :: ok ->
#ifndef OUT
       eff[g]++; CHECK(one_effect, eff[g] <= 1);
       owner[g] = a;
#endif
       st = 2; res = a; CHECK(replay_is_its_result, rgen == g);
#ifdef DEDUPE
       res = val; CHECK(outside_is_recorded, kept[g] == val);
       CHECK(one_effect_outside, writes[g] == 1);
#else
#ifdef OUT
       P4;
#endif
#endif
#ifdef NOATT
       att++;
#endif
       mine = res
    :: else -> skip  /* TX: the transaction is rolled back, with its effect */
    fi
  }
}

inline outside() {  /* OUT: the effect; refused if the outside has seen a larger token */
  atomic {
#ifdef DEDUPE
    if  /* the outside knows the operation: it answers as the first time */
    :: writes[g] != 0 -> val = kept[g]
#ifdef FORGET
    :: writes[g] != 0 -> writes[g]++; kept[g] = a; val = a;
       CHECK(one_effect_outside, writes[g] <= 1)
#endif
    :: else -> writes[g]++; kept[g] = a; val = a
    fi
#else
#ifndef NOFENCE
    if
    :: mytok >= rtok ->
#endif
       rtok = mytok; rval = a; writes[g]++;
#ifdef ONCE
       CHECK(one_effect_outside, writes[g] <= 1);
#endif
       P4  /* a late write does not change the value of a done record */
#ifndef NOFENCE
    :: else -> skip
    fi
#endif
#endif
  }
}

inline giveup() {  /* the work failed for now: end the lease, keep the record */
  atomic {
#ifdef BLINDFAIL
    st = 0; lease = 0
#else
    if
    :: st == 1 && tok == mytok -> lease = 0
    :: else -> skip
    fi
#endif
  }
}

proctype Caller() {
  byte got, seen, a, mytok, g, val, mine; bit ok;
  atomic { g = window; if :: g == 0 -> goto end :: else fi };
again:
  claim();
  if
  :: got == 1 ->
     if
     :: goto end  /* crash after the claim */
     :: giveup(); if :: goto again :: goto end fi
     :: skip
     fi;
#ifdef OUT
     outside();
     if :: goto end :: giveup(); goto again :: skip fi;  /* crash, or failure, after the effect */
#endif
     complete();
     if
     :: ok -> if :: goto again :: goto end fi  /* the reply is lost, or the caller has its result */
     :: else -> goto again  /* taken over: read what the successor did */
     fi
  :: got == 0 -> (lease == 0 || st != 1 || window != g); if :: goto again :: goto end fi
  :: else -> skip
  fi;
end:
  atomic { a = 0; mytok = 0; seen = 0; val = 0; mine = 0; left-- }
}

active proctype World() {
  do
  :: atomic { st == 1 && lease -> lease = 0 }  /* a lease ends: a pause, or a crash */
#ifdef EXPIRY
  :: atomic { st == 2 -> st = 0; att = 0 }  /* the record expires while clients still retry */
#endif
  /* The retry window ends; then the record is purged, and the key is used again. */
  :: atomic { window != 0 && gen < GENS && (st == 2 || st == 3) -> window = 0 }
  :: atomic {
       window == 0 && (st == 2 || st == 3) && gen < GENS ->
       st = 0; att = 0; gen++; window = gen; rval = 0
     }
  :: atomic { left == 0 -> break }
  od;
  /* the reconciliation: it retries until the record is final */
  window = gen;
  run Last()
}

proctype Last() {
  byte got, seen, a, mytok, g, val, mine; bit ok; byte tries = 0;
  g = gen;
  do
  :: tries <= MAXA + 1 ->
     tries++;
     atomic { if :: st == 1 -> lease = 0 :: else fi };  /* it waits until the lease is over */
     claim();
     if
     :: got == 1 ->
#ifdef OUT
        outside();
#endif
        complete()
     :: got == 2 || got == 3 -> break
     :: else -> skip
     fi
  :: else -> break
  od;
#ifndef NOP5
  CHECK(operation_ends, st == 2 || st == 3);
#ifndef OUT
  CHECK(operation_ends, st != 2 || eff[gen] == 1)
#endif
#endif
}

init {
  atomic {
    byte i = 0;
    do :: i < N -> run Caller(); i++ :: else -> break od
  }
}
