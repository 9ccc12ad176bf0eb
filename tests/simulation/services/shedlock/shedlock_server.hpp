// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// ShedLock's table, and the statements of Pawl and of ShedLock's JDBC provider.
#pragma once

#include "../database/database_server.hpp"

#include <pawl/service.hpp>
#include <pawl/shedlock.hpp>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace pawl::simulation {

enum class shedlock_bug : std::uint8_t {
    none,
#define PAWL_BUG(name) name,
#include "shedlock_bugs.def"
#undef PAWL_BUG
};

inline constexpr std::array shedlock_bug_names{
#define PAWL_BUG(name) std::pair{shedlock_bug::name, std::string_view(#name)},
#include "shedlock_bugs.def"
#undef PAWL_BUG
};

struct shedlock_row {
    std::string locked_by;
    instant lock_until{}, locked_at{};
    std::int64_t fence = 0;
    const simulated_process* process = nullptr;  // that took it
    duration ttl{};                              // of the last statement that set it
};

class shedlock_server final : public database_server {
public:
    shedlock_server(scheduler& loop, prng random, shedlock_bug bug)
        : database_server(loop, random), bug_(bug), is_mysql_(random_.happens(0.5)) {}

    [[nodiscard]] service connect(simulated_process& process, const shedlock_table& table);
    // A statement as the client's side wants it. Of Pawl's statements, `function` is the name.
    [[nodiscard]] client_connection::statement statement(sql::call request);

    // For the rules. Null: the lock has no row, or nobody has it.
    [[nodiscard]] const shedlock_row* held_row(const std::string& name) const;
    [[nodiscard]] shedlock_bug bug() const noexcept { return bug_; }

private:
    [[nodiscard]] std::vector<sql::row> carry_out(server_session& session, const sql::call& call,
                                                  instant sent_at);
    [[nodiscard]] std::vector<sql::row> look(const std::string& name, instant now) const;

    const shedlock_bug bug_;
    const bool is_mysql_;
    std::map<std::string, shedlock_row> rows_;
};

}  // namespace pawl::simulation
