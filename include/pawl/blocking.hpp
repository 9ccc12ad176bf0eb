// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// All of the sync API: locks, semaphores, latches and elections for threads. Standard headers only.
#pragma once

#include <pawl/blocking/client.hpp>
#include <pawl/blocking/election.hpp>
#include <pawl/blocking/latch.hpp>
#include <pawl/blocking/mutex.hpp>
#include <pawl/blocking/semaphore.hpp>
#include <pawl/blocking/shared_mutex.hpp>
