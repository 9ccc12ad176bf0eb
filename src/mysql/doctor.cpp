// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "doctor.hpp"

namespace pawl::mysql {
namespace {

using grade = finding::grade;

finding flush_finding(const server_state& state) {
    const std::string topic = "innodb_flush_log_at_trx_commit";
    if (state.flush == "1") return {grade::good, topic, state.flush, ""};
    return {grade::warning, topic, state.flush,
            "a crash may forget holds, so that two clients have a lock; set it to 1"};
}

finding log_finding(const server_state& state) {
    if (state.binlog_format.empty()) return {grade::good, "binary log", "off", ""};
    if (state.binlog_format != "STATEMENT")
        return {grade::good, "binary log", state.binlog_format, ""};
    return {grade::bad, "binary log", state.binlog_format,
            "the server refuses the procedures' writes; set binlog_format to ROW"};
}

finding wake_finding(const server_state& state) {
    if (state.is_pushed) return {grade::good, "wake-ups", "pushed through a second connection", ""};
    return {grade::note, "wake-ups", "waiters poll",
            state.is_cluster ? "the nodes of a cluster have no common user locks"
                             : "with push=yes and a direct connection they are woken"};
}

finding failover_finding(const options& settings) {
    if (settings.after_failover == after_failover::wait)
        return {grade::good, "failover", "nothing is granted for the longest ttl after it", ""};
    return {grade::warning, "failover", "without a pause",
            "a failover may forget holds; leave out after_failover=go"};
}

}  // namespace

examination assess(const server_state& state, const options& settings, const std::string& node) {
    examination result;
    result.findings = {{grade::note, "version", state.version, ""},
                       flush_finding(state),
                       log_finding(state),
                       wake_finding(state),
                       failover_finding(settings)};
    result.nodes = {{node, "primary"}};
    auto& row = result.guarantees;
    row.backend = "MariaDB or MySQL";
    if (state.flush != "1") row.backend += ", without a flush for each commit";
    row.holder_crash = "holds, after the ttl";
    row.holder_pause = "holds for holders that stop when told";
    row.server_crash = state.flush == "1" ? "holds" : "can break: the newest holds are forgotten";
    row.failover = settings.after_failover == after_failover::wait
                       ? "holds, after a pause of the longest ttl"
                       : "can break: a replica may not know the lock";
    row.partition = "can break: an old primary that goes on grants the lock, too";
    row.clock_jump = "can break";
    row.token = "never goes back while the server's clock is right";
    return result;
}

examination assess_sessions(const std::string& version, const options& settings,
                            const std::string& node) {
    const bool is_row = settings.kind == lock_kind::row;
    examination result;
    result.findings = {
        {grade::note, "version", version, ""},
        {grade::note, "mode",
         is_row ? "row: a lock is a row that a transaction locks"
                : "session: a lock is a user lock of a connection",
         is_row ? "each hold and each waiter needs a connection, and an open transaction; without "
                  "mode=row, locks survive a crash and a failover"
                : "each hold and each waiter needs a connection, and no hold has a token; without "
                  "mode=session, locks survive a crash and a failover"}};
    result.nodes = {{node, "primary"}};
    auto& row = result.guarantees;
    row.backend = is_row ? "MariaDB or MySQL, mode=row" : "MariaDB or MySQL, mode=session";
    row.holder_crash = "holds, at once, or after the ttl if its host has gone";
    row.holder_pause = "holds for holders that stop when told";
    row.server_crash = "can break: the server forgets every lock";
    row.failover = "can break: a replica knows no lock";
    row.partition = "can break: an old primary that goes on grants the lock, too";
    row.clock_jump = "holds";
    row.token = is_row ? "never goes back while the server's clock is right" : "none";
    return result;
}

}  // namespace pawl::mysql
