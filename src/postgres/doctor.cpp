// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "doctor.hpp"

#include "replies.hpp"

#include "../sql/findings.hpp"
#include "../sql/guarantees.hpp"
#include "../sql/shedlock_table.hpp"

#include <utility>

using namespace std::chrono_literals;

namespace pawl::postgres {
namespace {

using grade = finding::grade;

finding version_finding(const server_state& state) {
    const auto major = number_or_0(state.version);
    if (major < 14)
        return {grade::warning, "version", "PostgreSQL " + state.version,
                "its makers no longer mend it; use a newer one"};
    return {grade::good, "version", "PostgreSQL " + state.version, ""};
}

finding disk_finding(const server_state& state) {
    if (!state.has_fsync)
        return {grade::bad, "disk", "fsync is off",
                "a power loss may forget holds and damage the database; set fsync = on"};
    if (!state.has_full_page_writes)
        return {grade::warning, "disk", "full_page_writes is off",
                "a power loss may damage the database; set full_page_writes = on, unless the file "
                "system never tears a page"};
    return {grade::good, "disk", "fsync is on", ""};
}

finding commit_finding(const server_state& state) {
    if (state.synchronous_commit == "off")
        return {grade::warning, "synchronous commit", "off",
                "behind a proxy Pawl cannot change it, so a crash may forget holds; set "
                "synchronous_commit = on for the role"};
    return {grade::good, "synchronous commit", state.synchronous_commit, ""};
}

bool has_durable_standby(const server_state& state) {
    return !state.synchronous_standbys.empty() && state.synchronous_commit != "off" &&
           state.synchronous_commit != "local";
}

finding standby_finding(const server_state& state, const options& settings) {
    if (has_durable_standby(state))
        return {grade::good, "standbys", "synchronous: " + state.synchronous_standbys, ""};
    const auto fact = state.standbys == 0
                          ? std::string("no standby is connected")
                          : std::to_string(state.standbys) + ", none of them synchronous";
    if (settings.shedlock)
        return {state.standbys == 0 ? grade::note : grade::warning, "standbys", fact,
                "a failover may forget holds of ShedLock's table; set synchronous_standby_names"};
    if (settings.after_failover == after_failover::go)
        return {grade::warning, "standbys", fact,
                "a failover may forget holds; set synchronous_standby_names, or leave out "
                "after_failover=go"};
    return {grade::note, "standbys", fact,
            "after a failover, nothing is granted for the longest ttl; with "
            "synchronous_standby_names there is no such pause"};
}

finding proxy_finding(const server_state& state) {
    if (!state.has_proxy) return {grade::good, "connection", "direct", ""};
    return {grade::warning, "connection", "through a proxy that shares connections",
            "waiters poll, and a forced release is noticed at the next renewal; connect to the "
            "server itself"};
}

finding snapshot_finding(const server_state& state) {
    const auto fact = std::to_string(state.oldest_snapshot) + " s";
    if (state.oldest_snapshot < 600 && state.hidden_snapshots > 0)
        return {grade::note, "oldest snapshot",
                fact + ", and " + std::to_string(state.hidden_snapshots) +
                    " of other roles, whose age this role may not see",
                "a long transaction makes locks slower; use a role with the rights of "
                "pg_read_all_stats to see its age"};
    if (state.oldest_snapshot < 600) return {grade::good, "oldest snapshot", fact, ""};
    return {grade::warning, "oldest snapshot", fact,
            "old rows cannot be removed while it is open, so locks become slower; end the long "
            "transaction"};
}

finding rows_finding(const server_state& state) {
    const auto fact = std::to_string(state.dead_rows);
    if (state.dead_rows < 100000) return {grade::good, "dead rows", fact, ""};
    return {grade::warning, "dead rows", fact,
            "locks become slower; see that autovacuum is on, and run VACUUM on the schema"};
}

// A notification wakes every session of the database.
finding session_finding(const server_state& state) {
    const auto fact = std::to_string(state.sessions) + " with advisory locks, as Pawl's have";
    if (state.sessions < 100) return {grade::good, "sessions", fact, ""};
    return {grade::note, "sessions", fact,
            "each hand-over of a lock wakes them all; give the locks a database of their own"};
}

finding rights_finding(const server_state& state) {
    if (state.is_superuser)
        return {grade::warning, "rights", "this role is a superuser",
                "it may do anything to the database; use a role with the rights of `pawl schema "
                "--role ROLE`"};
    if (!state.writers.empty())
        return {grade::note, "rights", "the tables can be written by " + state.writers,
                "a role needs only the functions; see the output of `pawl schema --role ROLE`"};
    return {grade::good, "rights", "nobody but the owner may write the tables", ""};
}

finding encoding_finding(const server_state& state) {
    if (state.encoding == "UTF8") return {grade::good, "encoding", "UTF8", ""};
    return {grade::note, "encoding", state.encoding,
            "names with other characters are refused; a database with UTF8 takes all names"};
}

guarantee_row guarantees_of(const server_state& state, const options& settings) {
    const bool has_pause = settings.after_failover == after_failover::wait && !settings.shedlock;
    auto row = sql::lease_guarantees("PostgreSQL", "standby", has_pause);
    if (settings.shedlock) row.backend += ", ShedLock's table";
    if (!state.has_fsync) row.backend += ", fsync off";
    if (!state.has_fsync || state.synchronous_commit == "off")
        row.server_crash = "can break on power loss";
    if (has_durable_standby(state)) {
        row.backend += ", with a synchronous standby";
        row.failover = "holds";
    }
    return row;
}

}  // namespace

const char* state_query() noexcept {
    return R"sql(
select current_setting('server_version'), current_setting('fsync'),
    current_setting('full_page_writes'), current_setting('synchronous_commit'),
    current_setting('synchronous_standby_names'),
    (select count(*) from pg_stat_get_wal_senders()),
    (select coalesce(max(extract(epoch from clock_timestamp() - a.xact_start)), 0)::bigint
        from pg_stat_activity a where a.backend_xmin is not null and a.pid <> pg_backend_pid()),
    (select coalesce(sum(t.n_dead_tup), 0) from pg_stat_all_tables t where t.schemaname = $1),
    (select string_agg(r.rolname, ', ' order by r.rolname) from pg_roles r, pg_class c
        join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relname = 'lock' and r.rolcanlogin and not r.rolsuper
        and has_table_privilege(r.oid, c.oid, 'update')),
    (select r.rolsuper from pg_roles r where r.rolname = current_user),
    current_setting('server_encoding'),
    (select count(*) from pg_stat_activity a
        where a.backend_xmin is not null and a.query = '<insufficient privilege>'),
    (select count(distinct l.pid) from pg_locks l where l.locktype = 'advisory' and l.granted
        and l.database = (select d.oid from pg_database d where d.datname = current_database())),
    case when $1 <> '' then
        ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int end,
    (extract(epoch from clock_timestamp()) * 1000000)::bigint
)sql";
}

server_state read_state(const std::vector<sql::row>& rows, const error_place& place) {
    if (rows.size() != 1 || rows.front().size() != 15) throw strange_reply(place);
    const auto& row = rows.front();
    const auto text = [&row](std::size_t i) { return row[i].value_or(""); };
    server_state state;
    state.version = text(0).substr(0, text(0).find(' '));
    state.has_fsync = row[1] != "off";
    state.has_full_page_writes = row[2] != "off";
    state.synchronous_commit = text(3);
    state.synchronous_standbys = text(4);
    state.standbys = number_or_0(row[5]);
    state.oldest_snapshot = number_or_0(row[6]);
    state.dead_rows = number_or_0(row[7]);
    state.writers = text(8);
    state.is_superuser = row[9] == "t";
    state.encoding = text(10);
    state.hidden_snapshots = number_or_0(row[11]);
    state.sessions = number_or_0(row[12]);
    state.timeline = text(13);
    state.clock_offset = std::chrono::microseconds(number_or_0(row[14]));
    return state;
}

examination assess(const server_state& state, const options& settings, const std::string& node) {
    examination result;
    result.findings = {version_finding(state), disk_finding(state), commit_finding(state),
                       standby_finding(state, settings)};
    if (!settings.shedlock)
        result.findings.insert(result.findings.end(),
                               {proxy_finding(state),
                                session_finding(state),
                                snapshot_finding(state),
                                rows_finding(state),
                                rights_finding(state),
                                {grade::good, "timeline", state.timeline, ""}});
    result.findings.insert(result.findings.end(),
                           {sql::tls_finding(state.has_tls, state.is_remote, "sslmode=verify-full"),
                            encoding_finding(state), sql::clock_finding(state.clock_offset)});
    if (settings.shedlock) result.findings.push_back(sql::others_finding(state.future_locks));
    sql::add_pause(result, state.hold_off);
    sql::set_server(result, node, "primary");
    result.guarantees = guarantees_of(state, settings);
    return result;
}

examination assess_sessions(const server_state& state, const std::string& node) {
    examination result;
    result.findings = {version_finding(state),
                       proxy_finding(state),
                       sql::tls_finding(state.has_tls, state.is_remote, "sslmode=verify-full"),
                       {grade::note, "mode", "session: a lock is an advisory lock of a connection",
                        "each hold and each waiter needs a connection, and no hold has a token; "
                        "without mode=session, locks survive a crash and a failover"}};
    sql::set_server(result, node, "primary");
    result.guarantees = sql::session_guarantees("PostgreSQL, mode=session", "standby");
    return result;
}

}  // namespace pawl::postgres
