// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The sessions of a simulated program.
#pragma once

#include "sql_database.hpp"

#include "core/util/wakeup.hpp"

namespace pawl::simulation {

class simulated_session final : public sql::session,
                                public std::enable_shared_from_this<simulated_session> {
public:
    simulated_session(sql_database& database, const spi::backend_context& context,
                      sql::session_handlers handlers);
    ~simulated_session() override { simulated_session::close(); }

    // False: the database refuses it.
    [[nodiscard]] bool open(simulated_process& process, std::string client);
    const sql::session_facts& facts() const noexcept override { return facts_; }
    bool is_over() const noexcept override { return !link_; }
    boost::asio::awaitable<std::vector<sql::row>> run(const sql::call& request,
                                                      time_point give_up_at) override;
    bool is_listening() const noexcept override { return is_listening_; }
    void listen() override;
    void close() noexcept override;

    // For the network.
    void receive(const std::string& message);
    void end();

private:
    struct pending {
        core::wakeup answered;
        std::optional<std::vector<sql::row>> answer{};
    };
    // Injects bugs of the requests.
    [[nodiscard]] sql::call changed(const sql::call& request);

    sql_database& database_;
    const spi::backend_context context_;
    const sql::session_handlers handlers_;
    sql::session_facts facts_;
    std::shared_ptr<sql_link> link_;
    std::vector<std::shared_ptr<pending>> calls_;
    bool is_listening_ = false;
    time_point answered_at_{};
    std::map<std::string, std::string> owners_;  // of a name: the newest one
};

class simulated_connector final : public sql::connector {
public:
    simulated_connector(sql_database& database, simulated_process& process,
                        const spi::backend_context& context)
        : database_(database), process_(process), context_(context) {}

    boost::asio::awaitable<std::shared_ptr<sql::session>> connect(sql::session_handlers handlers,
                                                                  time_point give_up_at) override;
    std::string describe() const override { return "The database"; }
    boost::asio::awaitable<examination> examine(sql::session&, time_point) override {
        co_return examination{};
    }
    boost::asio::awaitable<void> check_durability(sql::session&, durability, time_point) override {
        co_return;
    }
    spi::capabilities capabilities() const noexcept override {
        return {.loss_is_pushed = false,
                .strictly_fair = true,
                .shared = true,
                .permits = true,
                .downgrades = true};
    }

private:
    sql_database& database_;
    simulated_process& process_;
    const spi::backend_context context_;
};

}  // namespace pawl::simulation
