// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// What the locks need of a database: sessions that call the functions of Pawl's schema.
#pragma once

#include "../core/util/spi.hpp"

#include <pawl/durability.hpp>
#include <pawl/error.hpp>
#include <pawl/examination.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pawl::sql {

// NULL, a number, a text, or a list of texts.
using parameter = std::variant<std::monostate, std::int64_t, std::string, std::vector<std::string>>;

// A call of a function of the schema, without the number of the format in its name.
struct call {
    std::string_view function;
    std::vector<parameter> parameters;
    bool notifies = false;  // it may wake other clients, after its commit
    // In place of the function, a statement of this name; $1, $2 and so on are the parameters. It
    // outlives the call, and is always the same for the name.
    std::string_view text{};
};

using row = std::vector<std::optional<std::string>>;  // empty: NULL

// No answer came: the database may have carried out the call, or may do so later. The other errors
// of a call say that it changed nothing.
class no_answer : public error {
public:
    explicit no_answer(const std::string& sentence) : error(errc::unreachable, sentence) {}
};

// What a new session has learned.
struct session_facts {
    std::string client;      // 16 hex digits, random, of this session only
    bool is_pushed = true;   // false: behind a proxy that shares sessions, where waiters poll
    std::int64_t boot = 0;   // changes when the server has crashed or failed over
    std::int64_t clock = 0;  // of the server, in us
    duration hold_off{};     // the server grants nothing for so long
    std::int64_t longest_name = 0;  // in ShedLock's table, in characters; 0: without a limit
};

// One connection to the database, ready for calls. Used on the strand, and outlived by no call.
class session {
public:
    virtual ~session() = default;

    [[nodiscard]] virtual const session_facts& facts() const noexcept = 0;
    [[nodiscard]] virtual bool is_over() const noexcept = 0;
    // The calls of a session are carried out in the order of `run`. Throws `no_answer`;
    // errc::unavailable for what passes, such as a deadlock or a time limit of the server;
    // errc::refused, for example for a lack of rights. A call whose answer does not come in time
    // does not end the session, but a session without any answer for long ends.
    virtual boost::asio::awaitable<std::vector<row>> run(const call& request,
                                                         time_point give_up_at) = 0;
    // False: messages that are sent now are lost.
    [[nodiscard]] virtual bool is_listening() const noexcept = 0;
    // Messages come from now on. Called when a claim has joined a queue, or has a long hold.
    virtual void listen() = 0;
    // Ends the session: its calls throw `no_answer`. No handler is called.
    virtual void close() noexcept = 0;
};

// Called on the strand, and not from within a function of the session.
struct session_handlers {
    std::function<void(std::string_view message)> on_message;  // a push for this client
    std::function<void()> on_end;                              // the session has ended by itself
    // False: for now, messages do not come. Not called with true before it was with false.
    std::function<void(bool is_hearing)> on_hearing;
};

// Names what is done, until the end of the scope.
class named_activity {
public:
    named_activity(std::string& place, std::string name) : place_(place) {
        place_ = std::move(name);
    }
    ~named_activity() { place_.clear(); }
    named_activity(const named_activity&) = delete;
    named_activity& operator=(const named_activity&) = delete;

private:
    std::string& place_;
};

// Makes sessions. Used on the strand.
class connector {
public:
    virtual ~connector() = default;

    // Connects to the first server that accepts writes, prepares the schema, and says hello. Throws
    // errc::unreachable or errc::unavailable for what may pass; errc::refused, errc::bad_option and
    // so on for what lasts.
    virtual boost::asio::awaitable<std::shared_ptr<session>> connect(session_handlers handlers,
                                                                     time_point give_up_at) = 0;
    // For messages, such as "DATABASE at db.example:5432"; without a password.
    [[nodiscard]] virtual std::string describe() const = 0;
    // What takes long in a `connect` that is under way, such as "it makes the schema"; or empty.
    [[nodiscard]] virtual std::string activity() const { return {}; }
    // Findings and guarantees, for `doctor`.
    virtual boost::asio::awaitable<examination> examine(session& connected,
                                                        time_point give_up_at) = 0;
    // Whether the settings make each answered commit of the session so durable. Throws
    // errc::unsupported or errc::not_durable if they do not. Called only with a capability for it.
    virtual boost::asio::awaitable<void> check_durability(session& connected, durability wanted,
                                                          time_point give_up_at) = 0;
    [[nodiscard]] virtual spi::capabilities capabilities() const noexcept = 0;
};

}  // namespace pawl::sql
