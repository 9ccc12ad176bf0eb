// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The backend of one client.
#pragma once

#include "store.hpp"
#include "worker.hpp"

#include <memory>

namespace pawl::sqlite {

// The simulation has workers and notifiers of its own.
[[nodiscard]] std::unique_ptr<backend> make_backend(
    store::settings file_settings, const backend_context& context,
    const worker_factory& make_worker = start_worker_thread);

}  // namespace pawl::sqlite
