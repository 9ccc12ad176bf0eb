// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "doctor.hpp"

#include "../sql/shedlock_table.hpp"

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

std::string failover_of(const options& settings) {
    if (settings.after_failover == after_failover::wait && !settings.shedlock)
        return "holds, after a pause of the longest ttl";
    return "can break: a replica may not know the lock";
}

}  // namespace

examination assess(const server_state& state, const options& settings, const std::string& node) {
    examination result;
    result.findings = {
        {grade::note, "version", state.version, ""}, flush_finding(state), log_finding(state)};
    if (settings.shedlock)
        result.findings.insert(result.findings.end(), {zone_finding(state), name_finding(state),
                                                       sql::others_finding(state.future_locks)});
    else
        result.findings.insert(result.findings.end(),
                               {wake_finding(state), failover_finding(settings)});
    result.nodes = {{node, "primary"}};
    auto& row = result.guarantees;
    row.backend = "MariaDB or MySQL";
    if (settings.shedlock) row.backend += ", ShedLock's table";
    if (state.flush != "1") row.backend += ", without a flush for each commit";
    row.holder_crash = "holds, after the ttl";
    row.holder_pause = "holds for holders that stop when told";
    row.server_crash = state.flush == "1" ? "holds" : "can break: the newest holds are forgotten";
    row.failover = failover_of(settings);
    row.partition = "can break: an old primary that goes on grants the lock, too";
    row.clock_jump = "can break";
    row.token = "never goes back while the server's clock is right";
    return result;
}

}  // namespace pawl::mysql
