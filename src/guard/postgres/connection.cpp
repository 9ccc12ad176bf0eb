// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "parameters.hpp"
#include "results.hpp"

#include <pawl/guard/postgres.hpp>

namespace pawl::guard {

rows postgres_connection::execute(const statement& to_run) {
    const postgres_parameters all(to_run);
    const postgres_result result(::PQexecParams(handle_, to_run.text.c_str(), all.count(), nullptr,
                                                all.values(), all.lengths(), all.formats(), 0));
    return rows_of(handle_, result.get(), to_run.text);
}

bool postgres_connection::in_transaction() const noexcept {
    return is_in_postgres_transaction(handle_);
}

}  // namespace pawl::guard
