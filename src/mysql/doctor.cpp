// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "doctor.hpp"

#include "../sql/findings.hpp"
#include "../sql/guarantees.hpp"
#include "../sql/shedlock_table.hpp"

namespace pawl::mysql {
namespace {

using grade = finding::grade;
using cluster_kind = server_state::cluster_kind;

bool is_cluster(const server_state& state) { return state.cluster != cluster_kind::none; }

finding flush_finding(const server_state& state) {
    const std::string topic = "innodb_flush_log_at_trx_commit";
    if (state.flush == "1" || state.flush == "3") return {grade::good, topic, state.flush, ""};
    if (is_cluster(state))
        return {grade::note, topic, state.flush,
                "a crash of all nodes at once may forget holds, so that two clients have a lock"};
    return {grade::warning, topic, state.flush,
            "a crash may forget holds, so that two clients have a lock; set it to 1"};
}

finding log_finding(const server_state& state) {
    if (state.binlog_format.empty()) return {grade::good, "binary log", "off", ""};
    if (state.binlog_format == "STATEMENT")
        return {grade::bad, "binary log", state.binlog_format,
                "the server refuses the procedures' writes; set binlog_format to ROW"};
    if (state.binlog_sync != "1")
        return {grade::warning, "binary log", "sync_binlog = " + state.binlog_sync,
                "a power loss may forget holds, so that two clients have a lock; set it to 1"};
    return {grade::good, "binary log", state.binlog_format, ""};
}

finding wake_finding(const server_state& state) {
    if (state.is_pushed) return {grade::good, "wake-ups", "pushed through a second connection", ""};
    return {grade::note, "wake-ups", "waiters poll",
            is_cluster(state) ? "the nodes of a cluster have no common user locks"
                              : "with push=yes and a direct connection they are woken"};
}

finding failover_finding(const server_state& state, const options& settings) {
    if (is_cluster(state)) return {grade::good, "failover", "each node knows each hold", ""};
    if (settings.after_failover == after_failover::wait)
        return {grade::good, "failover", "nothing is granted for the longest ttl after it", ""};
    return {grade::warning, "failover", "without a pause",
            "a failover may forget holds; leave out after_failover=go"};
}

finding cluster_finding(const server_state& state) {
    if (state.cluster == cluster_kind::group_replication)
        return {grade::note, "cluster", "group replication",
                "keep the clocks of its nodes equal: their difference shortens leases"};
    const auto fact = "Galera, nodes: " + std::to_string(state.nodes);
    if (state.nodes < 3)
        return {grade::warning, "cluster", fact,
                "it stops when one of two nodes is lost; add a node or an arbitrator"};
    return {grade::note, "cluster", fact,
            "keep the clocks of its nodes equal: their difference shortens leases"};
}

// The row of a cluster differs from that of a server.
void describe_cluster(const server_state& state, guarantee_row& row) {
    row.backend = "MariaDB or MySQL, cluster";
    row.server_crash = "holds";
    if (state.flush != "1") {
        row.backend += " without a flush for each commit";
        row.server_crash = "holds, but not if all nodes crash at once";
    }
    row.failover = "holds";
    row.partition = "holds, the part without a majority grants nothing";
    row.clock_jump = "can break, also if the clocks of the nodes differ";
}

finding rights_finding(const server_state& state) {
    if (!state.sees_tables) return {grade::good, "rights", "none on the tables", ""};
    return {grade::note, "rights", "this account has rights on the tables",
            "an account needs only the procedures; see the output of `pawl schema --role USER`"};
}

finding zone_finding(const server_state& state) {
    if (!state.has_zone) return {grade::good, "time zone", "the times are UTC for all", ""};
    return {grade::warning, "time zone", "TIMESTAMP columns, and a server that is not in UTC",
            "every program must have the server's time zone in its sessions, and locks fail in the "
            "hour that a summer time skips; use DATETIME(3) columns, or a server in UTC"};
}

finding name_finding(const server_state& state) {
    if (!state.ignores_case) return {grade::good, "names", "compared as they are", ""};
    return {grade::note, "names", "compared without regard to case",
            "names that differ in case, accents or blanks at the end are one lock"};
}

bool is_remote(std::string_view node) {
    return !node.starts_with("127.") && !node.starts_with("localhost:") &&
           !node.starts_with("::1:");
}

}  // namespace

std::string lazy_setting(const std::string& flush, const std::string& binlog_sync) {
    if (flush != "1" && flush != "3") return "innodb_flush_log_at_trx_commit";
    return binlog_sync == "1" ? "" : "sync_binlog";
}

examination assess(const server_state& state, const options& settings, const std::string& node) {
    examination result;
    result.findings = {
        {grade::good, "version", state.version, ""}, flush_finding(state), log_finding(state)};
    if (settings.shedlock)
        result.findings.insert(result.findings.end(), {zone_finding(state), name_finding(state),
                                                       sql::others_finding(state.future_locks)});
    else
        result.findings.insert(
            result.findings.end(),
            {wake_finding(state), failover_finding(state, settings), rights_finding(state)});
    if (is_cluster(state)) result.findings.push_back(cluster_finding(state));
    result.findings.insert(result.findings.end(),
                           {sql::tls_finding(state.has_tls, is_remote(node), "tls=yes"),
                            sql::clock_finding(state.clock_offset)});
    sql::add_pause(result, state.hold_off);
    sql::set_server(result, node, is_cluster(state) ? "node" : "primary");
    const bool has_pause = settings.after_failover == after_failover::wait && !settings.shedlock;
    auto& row = result.guarantees;
    row = sql::lease_guarantees("MariaDB or MySQL", "replica", has_pause);
    if (settings.shedlock) row.backend += ", ShedLock's table";
    if (!lazy_setting(state.flush, state.binlog_sync).empty()) {
        row.backend += ", without a flush for each commit";
        row.server_crash = "can break: the newest holds are forgotten";
    }
    if (is_cluster(state)) describe_cluster(state, row);
    return result;
}

examination assess_sessions(const server_state& state, const options& settings,
                            const std::string& node) {
    const bool is_row = settings.kind == lock_kind::row;
    examination result;
    result.findings = {
        {grade::good, "version", state.version, ""},
        sql::tls_finding(state.has_tls, is_remote(node), "tls=yes"),
        {grade::note, "mode",
         is_row ? "row: a lock is a row that a transaction locks"
                : "session: a lock is a user lock of a connection",
         is_row ? "each hold and each waiter needs a connection, and an open transaction; without "
                  "mode=row, locks survive a crash and a failover"
                : "each hold and each waiter needs a connection, and no hold has a token; without "
                  "mode=session, locks survive a crash and a failover"}};
    sql::set_server(result, node, "primary");
    result.guarantees = sql::session_guarantees(
        is_row ? "MariaDB or MySQL, mode=row" : "MariaDB or MySQL, mode=session", "replica");
    if (is_row) result.guarantees.token = "never goes back while the server's clock is right";
    return result;
}

}  // namespace pawl::mysql
