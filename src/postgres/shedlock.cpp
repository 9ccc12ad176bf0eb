// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "shedlock.hpp"

#include "connection_string.hpp"

#include "../core/util/random.hpp"
#include "../sql/answers.hpp"
#include "../sql/shedlock_table.hpp"

#include <utility>
#include <vector>

namespace asio = boost::asio;

namespace pawl::postgres {
namespace {

// UTC, whatever the session's time zone is. ShedLock has CURRENT_TIMESTAMP here, the beginning of
// the transaction. A statement may wait for the row, and must compare and write the time after
// that.
constexpr std::string_view now = "timezone('utc', clock_timestamp())";

// `@` stands for the table, and `#` for the time.
std::string complete(std::string_view text, const shedlock_table& table) {
    std::string result;
    for (const char each : text)
        if (each == '@')
            result += table.name;
        else if (each == '#')
            result += now;
        else
            result += each;
    return result;
}

constexpr std::string_view row_columns =
    "select name, locked_by, ceil(extract(epoch from lock_until - #) * 1000)::bigint, "
    "(extract(epoch from locked_at) * 1000)::bigint, fence from @ ";

// The last column says whether the column is a key by itself.
constexpr auto columns_query = R"sql(
select a.attname,
    case when t.typname in ('varchar', 'text') then 'text'
        when t.typname = 'timestamp' then 'time'
        when t.typname = 'int8' then 'number' else format_type(a.atttypid, a.atttypmod) end,
    case when t.typname = 'timestamp' then case when a.atttypmod < 0 then 6 else a.atttypmod end
        when t.typname = 'varchar' and a.atttypmod > 0 then a.atttypmod - 4 else 0 end,
    exists (select from pg_index i where i.indrelid = a.attrelid and i.indisunique and i.indisvalid
        and i.indimmediate and i.indpred is null and i.indnkeyatts = 1 and i.indkey[0] = a.attnum)
from pg_attribute a join pg_type t on t.oid = a.atttypid
where a.attrelid = to_regclass($1)::oid and a.attnum > 0 and not a.attisdropped
)sql";

}  // namespace

sql::shedlock_statements shedlock_statements(const shedlock_table& table) {
    const auto text = [&table](std::string_view pattern) { return complete(pattern, table); };
    const std::string columns(row_columns);
    return {.take = text("update @ set lock_until = # + $3::bigint * interval '1 ms', "
                         "locked_at = #, locked_by = $2, fence = greatest(coalesce(fence, "
                         "0) + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint) "
                         "where name = $1 and lock_until <= # returning fence"),
            .make_row = text("insert into @ (name, lock_until, locked_at, locked_by) "
                             "values ($1, #, #, $2) on conflict do nothing"),
            .extend = text("update @ set lock_until = # + $3::bigint * interval '1 ms' "
                           "where name = $1 and locked_by = $2 and lock_until > #"
                           " returning fence"),
            .release = text("update @ set lock_until = greatest(#, locked_at + $3::bigint "
                            "* interval '1 ms') where name = $1 and locked_by = $2 and lock_until "
                            "> # returning fence"),
            .look = text(columns + "where name = $1"),
            .list = text(columns + "where lock_until > # order by name")};
}

std::string shedlock_schema(const shedlock_table& table, std::string_view role) {
    auto text = complete(
        "create table if not exists @ (name varchar(64) primary key, lock_until timestamp not "
        "null,\n    locked_at timestamp not null, locked_by varchar(255) not null);\n"
        "alter table @ add column if not exists fence bigint;\n",
        table);
    if (role.empty()) return text;
    check_role(role);
    return text + "grant select, insert, update on " + table.name + " to " + quoted(role) + ";\n";
}

asio::awaitable<sql::session_facts> check_shedlock(std::shared_ptr<connection> session,
                                                   const shedlock_table& table, runtime& time,
                                                   time_point give_up_at) {
    auto asked = session->send(columns_query, {table.name});
    const auto rows = co_await session->wait(std::move(asked), give_up_at);
    std::vector<sql::shedlock_column> columns;
    bool has_key = false;
    for (const auto& each : rows) {
        columns.push_back({std::string(sql::text_in(each, 0)), std::string(sql::text_in(each, 1)),
                           sql::number_in(each, 2)});
        if (columns.back().name == "name") has_key = sql::flag_in(each, 3);
    }
    sql::session_facts facts;
    facts.client = core::random_hex(time, 8);
    facts.longest_name =
        sql::check_shedlock_columns(columns, has_key, table.name, session->place().server);
    co_return facts;
}

std::string future_locks_query(const shedlock_table& table) {
    return complete("select count(*) from @ where locked_at > # + interval '1 s'", table);
}

}  // namespace pawl::postgres
