// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// All of the async API: locks, semaphores, latches and elections for programs with an event loop.
#pragma once

#include <pawl/client.hpp>
#include <pawl/diagnostics.hpp>
#include <pawl/election.hpp>
#include <pawl/held_lock.hpp>
#include <pawl/held_locks.hpp>
#include <pawl/latch.hpp>
#include <pawl/lock_owner.hpp>
#include <pawl/semaphore.hpp>
#include <pawl/striped.hpp>
#include <pawl/with_diagnostics.hpp>
#include <pawl/with_lock.hpp>
