// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The order of fencing tokens over the changes of the master. Included by models that define ERAS,
// ACQUIRES and `era`, the change that made a server the master last. A hold of a later era, or a
// later hold of the same era, must have a larger token.

#define FIRST_ERA 1
byte acquires;
byte lowest[ERAS + 1];   // the tokens issued in each era; 0: none
byte highest[ERAS + 1];

// Nothing can go wrong after the last acquire.
#define IS_OPEN (acquires < ACQUIRES)

// The properties. Each is true, or the search ends.
hidden byte newest_token_is_the_largest;
hidden byte old_masters_token_is_smaller;

// Compares the token with those of all other holds.
inline check_token(at, token) {
    i = FIRST_ERA;
    do
    :: i <= era[at] ->
       newest_token_is_the_largest = token > highest[i];
#ifndef OLD_MASTER_ONLY
       assert(newest_token_is_the_largest);
#endif
       i++
    :: i > era[at] && i <= ERAS ->
       old_masters_token_is_smaller = lowest[i] == 0 || token < lowest[i];
       assert(old_masters_token_is_smaller);
       i++
    :: else -> break
    od;
    highest[era[at]] = token;
    if
    :: lowest[era[at]] == 0 -> lowest[era[at]] = token
    :: else
    fi;
    i = 0
}
