// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "databases.hpp"

#include <support/mariadb_server.hpp>
#include <support/postgres_server.hpp>

#include <chrono>
#include <stdexcept>
#include <utility>

namespace interop {
namespace {

const std::string url_options = "?layout=shedlock&others=database_time";

class postgres_database final : public shared_database {
public:
    postgres_database() : name_(server().create_database()) {
        server().execute(
            "CREATE TABLE shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL, "
            "locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))",
            name_);
        server().execute("ALTER TABLE shedlock ADD fence BIGINT", name_);
    }
    std::string url(const std::string& more) const override {
        return server().url(name_, url_options + more);
    }
    std::string jdbc_url() const override {
        return "jdbc:postgresql://127.0.0.1:" + std::to_string(server().port()) + "/" + name_ +
               "?user=postgres";
    }
    std::string value(const std::string& query) const override {
        return server().value(query, name_);
    }
    std::string now() const override { return "timezone('utc', clock_timestamp())"; }
    std::string plus(const std::string& time, int seconds) const override {
        return "(" + time + "::timestamp + interval '" + std::to_string(seconds) + " s')";
    }

private:
    static support::postgres_server& server() {
        static support::postgres_server made({.config = {"timezone = 'Asia/Tokyo'"}});
        return made;
    }
    const std::string name_;
};

class mariadb_database final : public shared_database {
public:
    mariadb_database() : name_("Java-" + std::to_string(++count())) {
        server().execute("CREATE DATABASE `" + name_ + "`");
        static_cast<void>(run(
            "CREATE TABLE shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL, "
            "locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), locked_by VARCHAR(255) "
            "NOT NULL, PRIMARY KEY (name))"));
        static_cast<void>(run("ALTER TABLE shedlock ADD fence BIGINT"));
    }
    std::string url(const std::string& more) const override {
        return server().url(name_, url_options + more);
    }
    std::string jdbc_url() const override {
        return "jdbc:mariadb://127.0.0.1:" + std::to_string(server().port()) + "/" + name_ +
               "?user=root";
    }
    std::string value(const std::string& query) const override {
        const auto rows = run(query);
        return rows.empty() ? "no row" : rows.at(0).at(0).value_or("");
    }
    std::string now() const override { return "UTC_TIMESTAMP(3)"; }
    std::string plus(const std::string& time, int seconds) const override {
        return "TIMESTAMPADD(SECOND, " + std::to_string(seconds) + ", " + time + ")";
    }

private:
    static support::mariadb_server& server() {
        static support::mariadb_server made({.options = {"--default-time-zone=+09:00"}});
        return made;
    }
    static int& count() {
        static int number = 0;
        return number;
    }
    std::vector<support::mariadb_row> run(const std::string& statement) const {
        support::mariadb_client client(server().port());
        client.execute("USE `" + name_ + "`");
        return client.execute(statement);
    }
    const std::string name_;
};

}  // namespace

std::unique_ptr<shared_database> make_database(const std::string& kind) {
    if (kind == "Postgres") return std::make_unique<postgres_database>();
    return std::make_unique<mariadb_database>();
}

java_process::java_process(const shared_database& database)
    : process_(
          {.arguments = {
               "java", "-XX:TieredStopAtLevel=1", "-Duser.timezone=America/New_York", "-cp",
               std::string(PAWL_INTEROP_SHEDLOCK) + "/classes:" + PAWL_INTEROP_SHEDLOCK + "/lib/*",
               "pawl.interop.ShedLockPeer", database.jdbc_url()}}) {
    if (const auto first = read_reply(); first != "ready")
        throw std::runtime_error("Java began with: " + first);
}

std::string java_process::read_reply(std::chrono::milliseconds bound) {
    auto line = process_.read_line(bound);
    if (!line) throw std::runtime_error("Java did not reply in time");
    return *line;
}

}  // namespace interop
