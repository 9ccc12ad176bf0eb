// Connections to one server, one after the other, and what is sent over them.
#pragma once

#include "connection.hpp"
#include "link.hpp"
#include "name_look_up.hpp"
#include "subscriptions.hpp"

#include "../core/alarm.hpp"
#include "../core/fork_mark.hpp"

#include <pawl/backend.hpp>
#include <pawl/error.hpp>
#include <pawl/redis.hpp>

#include <boost/asio/awaitable.hpp>

#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pawl::redis {

// On one strand, but for `forget_listener`.
class wire : public std::enable_shared_from_this<wire> {
public:
    wire(options where, const backend_context& context, link::listener& to, std::string channel);

    boost::asio::awaitable<reply> exec(std::span<const std::string_view> words,
                                       time_point give_up_at, bool tracked);
    boost::asio::awaitable<void> subscribe(std::string channel, time_point give_up_at);
    void unsubscribe(const std::string& channel) noexcept;
    boost::asio::awaitable<void> close(time_point give_up_at);
    // After `close` it is forgotten already, and this may be another thread than the strand's.
    void forget_listener() noexcept {
        if (!closing_) listener_ = nullptr;
    }

    [[nodiscard]] const session& current() const noexcept { return session_; }
    [[nodiscard]] bool connected() const noexcept { return is_ready(); }
    [[nodiscard]] std::string absence() const;

private:
    runtime& time() const noexcept { return *context_.time; }
    void log(const std::string& line) const {
        if (context_.log) context_.log(about_ + ": " + line);
    }

    void start();
    boost::asio::awaitable<void> run(std::shared_ptr<wire> self);
    boost::asio::awaitable<void> greet(std::shared_ptr<wire> self, std::shared_ptr<connection> on);
    boost::asio::awaitable<void> limit_greeting(std::shared_ptr<wire> self,
                                                std::shared_ptr<connection> on,
                                                std::shared_ptr<core::alarm> greeted,
                                                time_point until);
    void begin_look_up(const std::shared_ptr<wire>& self);
    boost::asio::awaitable<void> look_up(std::shared_ptr<wire> self,
                                         std::shared_ptr<name_look_up> begun);
    void named_as(addresses named);
    boost::asio::awaitable<boost::system::error_code> find_addresses(std::shared_ptr<wire> self,
                                                                     time_point give_up_at,
                                                                     addresses& to);
    boost::asio::awaitable<boost::system::error_code> reach(std::shared_ptr<wire> self,
                                                            const addresses& all,
                                                            time_point give_up_at);
    // Throws several_servers.
    boost::asio::awaitable<void> check_server(std::shared_ptr<connection> on, const session& met);
    boost::asio::awaitable<void> sweep(std::shared_ptr<wire> self);
    boost::asio::awaitable<void> watch_silence();
    boost::asio::awaitable<void> wait_ready(time_point give_up_at);
    [[nodiscard]] bool nobody_waits() const {
        return !connection_ || connection_->waiting().empty();
    }
    void leave(const std::string& channel) noexcept;
    // One connection, from its making to its end.
    boost::asio::awaitable<boost::system::error_code> live(std::shared_ptr<wire> self);
    void went_down(const boost::system::error_code& why);
    // The same, where there is no memory to say more.
    void refuse_all(const std::exception_ptr& why);
    // What ends an attempt from within, as an error of Pawl's.
    [[nodiscard]] std::exception_ptr present_failure() const noexcept;
    // What is ready in a fork is the parent's.
    [[nodiscard]] bool is_ready() const noexcept { return ready_ && !made_in_.forked(); }
    // No connection is made, and nothing is sent any more.
    [[nodiscard]] bool is_over() const noexcept { return closing_ || made_in_.forked(); }
    [[nodiscard]] error why_over() const {
        if (made_in_.forked()) return core::client_of_parent();
        return {errc::cancelled, "The client is closed; make a new one."};
    }
    std::string trouble_of(const boost::system::error_code& why) const;
    void on_push(const reply& message);
    // Of what is about to be sent: counted, and its silence noticed.
    void watch(pending& one, time_point give_up_at);

    // When the event loop is destroyed, it destroys `run`, and that those who wait for a reply.
    struct dropping {
        std::shared_ptr<wire> home;
        ~dropping() {
            home->running_ = home->ready_ = false;
            if (home->connection_) home->connection_->drop_all();
        }
    };
    // The next request begins it anew, however it ended.
    struct sweeping {
        wire& home;
        bool sees_to_its_end = false;
        ~sweeping() {
            home.sweeping_ = home.sweep_parked_ = false;
            // Nobody would notice a silence any more.
            if (!sees_to_its_end && home.connection_) home.connection_->close();
        }
    };
    struct gate {
        explicit gate(const backend_context& c) : opened(*c.time, c.strand), since(c.time->now()) {}
        core::alarm opened;
        time_point since;
        std::exception_ptr refused;
    };

    struct met_last {
        address at;
        std::string run_id;
    };

    const core::fork_mark made_in_;
    const options where_;
    const std::string about_;
    backend_context context_;
    link::listener* listener_;
    const std::string channel_;

    std::shared_ptr<connection> connection_;
    session session_;
    bool running_ = false;
    bool ready_ = false;
    bool closing_ = false;
    bool hung_ = false;       // the sweep ended this connection
    std::string end_reason_;  // of the present attempt, where Pawl ends it
    time_point ready_since_{};
    time_point attempt_ends_at_{};
    std::optional<met_last> server_;
    addresses named_;          // of the host's name: the newest answer, not tried yet
    addresses attempt_names_;  // those of the present attempt; empty where it began without them
    std::weak_ptr<name_look_up> look_up_;
    boost::system::error_code look_up_failure_;
    // What the server said to the present attempt, and to the newest one that has ended; null where
    // it said nothing of the kind.
    std::exception_ptr refusal_;
    std::exception_ptr last_refusal_;
    std::string last_trouble_;
    std::list<gate*> gates_;
    subscriptions heard_;
    core::alarm reconnect_;
    core::alarm sweep_;
    std::shared_ptr<core::alarm> greeted_;  // of the present connection
    core::alarm looked_up_;
    core::alarm tick_;  // of `close`, made early: closing must need nothing that may be missing
    bool sweeping_ = false;
    bool sweep_parked_ = false;
};

}  // namespace pawl::redis
