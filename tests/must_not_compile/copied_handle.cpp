// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// error: use of deleted function|call to implicitly-deleted
#include <pawl/blocking.hpp>

void keep(pawl::blocking::client& locks) {
    pawl::blocking::held_lock one = locks.acquire("it");
    pawl::blocking::held_lock other = std::move(one);
#ifdef MISUSE
    pawl::blocking::held_lock copy = other;
#endif
}
