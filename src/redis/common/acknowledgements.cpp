// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "acknowledgements.hpp"

#include "../topology/connected_link.hpp"
#include "../transport/server_errors.hpp"

#include "../../core/util/plural.hpp"
#include "../../core/util/wakeup.hpp"

#include <pawl/error.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace pawl::redis {
namespace {

// The longest turn of one request, so that a replica that does not answer delays the others little.
constexpr duration longest_turn = 100ms;
// On top of a turn, for the reply to arrive.
constexpr duration reply_allowance = 300ms;

// A server that became a replica unblocks its clients, and refuses WAIT.
bool is_of_former_master(std::string_view words) {
    return words.starts_with("UNBLOCKED") ||
           words.find("cannot be used with replica") != std::string_view::npos;
}

// One link of a topology: a write over it never reaches another server. In a cluster, the other
// server could write and this one confirm. The topology itself learns of the move, so the next turn
// finds the link of the new server.
class single_link final : public topology {
public:
    single_link(topology& servers, link& only) noexcept : servers_(servers), link_(&only) {}

    link& link_of(std::string_view) const noexcept override { return *link_; }
    std::span<link* const> links() const noexcept override { return {&link_, 1}; }
    bool has_slots() const noexcept override { return servers_.has_slots(); }
    bool may_follow(const reply& refusal) const noexcept override {
        return servers_.may_follow(refusal);
    }
    asio::awaitable<bool> follow(redirection& progress, std::string_view key, link& asked,
                                 reply& refusal, time_point give_up_at) override {
        co_await servers_.follow(progress, key, asked, refusal, give_up_at);
        co_return false;
    }

private:
    topology& servers_;
    link* const link_;
};

}  // namespace

// One request, over one connection after the other.
//
// WAIT counts the replicas that have everything that the server wrote for this connection so far.
// The grant was written for another connection: that of the client's locks or, after a hand-off, of
// the client that released the lock. So the attempt writes to the hold first, over the connection
// that then waits. The server's writes have one order, so a replica with this write has the grant.
class acknowledgements::attempt {
public:
    attempt(acknowledgements& parent, const request& wanted)
        : parent_(parent),
          request_(wanted),
          time_(*parent.context_.time),
          pauses_(time_, parent.bounds_.pauses()),
          timer_(time_, parent.context_.strand) {}

    asio::awaitable<void> run() {
        while (time_.now() < request_.give_up_at) {
            std::string trouble;
            try {
                const bool is_reached = co_await take_turn();
                if (is_reached) co_return;
                continue;
            } catch (const connection_lost& e) {
                trouble = e.what();
            } catch (const error& e) {
                if (e.reason() != errc::unreachable && e.reason() != errc::unavailable) throw;
                trouble = e.what();
            }
            trouble_ = std::move(trouble);
            written_to_ = nullptr;
            co_await pause();
        }
        throw failure();
    }

private:
    asio::awaitable<void> pause() {
        co_await timer_.wait_until(
            std::min(request_.give_up_at, time_.now() + pauses_.next_pause()));
    }

    // True: the durability is reached.
    asio::awaitable<bool> take_turn() {
        auto* const server_link =
            co_await connected_link_of(*parent_.servers_, request_.key, request_.give_up_at);
        core::waiting_room::waiter turn(parent_.turns_, server_link->server_name());
        bool is_first = turn.is_first();
        if (!is_first) is_first = co_await turn.wait_until_first(request_.give_up_at);
        if (!is_first) co_return false;
        if (!is_written_to(*server_link)) {
            const bool has_written = co_await write(*server_link);
            if (!has_written) co_return false;
        }
        const auto began = time_.now();
        const auto turn_length = std::min(longest_turn, request_.give_up_at - began);
        if (turn_length <= duration::zero()) co_return false;
        // Still the connection of the write: there was no suspension since the last check, and none
        // follows before the request is sent.
        const bool is_reached = co_await ask(*server_link, turn_length);
        if (is_reached) co_return true;
        // A server that answers at once would be asked in a tight loop.
        co_await timer_.wait_until(began + turn_length);
        co_return false;
    }

    // The present connection of the link has written to the hold.
    [[nodiscard]] bool is_written_to(const link& server_link) const {
        return written_to_ == &server_link && server_link.connected() &&
               server_link.current().connection_number == written_over_;
    }

    // False: it is not known whether this connection has written.
    asio::awaitable<bool> write(link& server_link) {
        const auto connection_number = server_link.current().connection_number;
        single_link only(*parent_.servers_, server_link);
        const auto outcome = co_await request_.write(only);
        if (outcome == renewal::outcome::refused)
            throw error(errc::lost,
                        request_.subject + " was lost before it was durable; try again.");
        written_to_ = &server_link;
        written_over_ = connection_number;
        if (outcome == renewal::outcome::extended && is_written_to(server_link)) co_return true;
        written_to_ = nullptr;
        trouble_ = "a renewal of the hold was not answered";
        co_await pause();
        co_return false;
    }

    asio::awaitable<bool> ask(link& server_link, duration turn_length) {
        const auto& wanted = request_.wanted;
        const auto count = std::to_string(wanted.replica_count());
        // 0 would mean no limit.
        const auto limit = std::to_string(std::max<std::int64_t>(
            1, std::chrono::ceil<std::chrono::milliseconds>(turn_length).count()));
        const auto give_up_at = time_.now() + turn_length + reply_allowance;
        reply answer;
        if (wanted.is_on_disk()) {
            const std::array<std::string_view, 4> words{"WAITAOF", "1", "0", limit};
            answer = co_await server_link.exec(words, give_up_at);
        } else {
            const std::array<std::string_view, 3> words{"WAIT", count, limit};
            answer = co_await server_link.exec(words, give_up_at);
        }
        if (answer.type == reply::kind::error) throw refusal(answer.text);
        trouble_.clear();
        acknowledged_ = count_in(answer);
        co_return acknowledged_ >= (wanted.is_on_disk() ? 1 : wanted.replica_count());
    }

    // The replicas of WAIT, or the files of WAITAOF: the server's own, 0 or 1, and the replicas'.
    [[nodiscard]] std::int64_t count_in(const reply& answer) const {
        const bool is_on_disk = request_.wanted.is_on_disk();
        const bool is_pair = answer.type == reply::kind::array && answer.items.size() == 2;
        const auto* const number = !is_on_disk ? &answer : is_pair ? &answer.items[0] : nullptr;
        if (number == nullptr || number->type != reply::kind::integer || number->number < 0)
            throw error(errc::protocol, request_.subject + ": an unexpected reply to " + command() +
                                            "; run `pawl doctor` to see what kind of server "
                                            "this is.");
        return number->number;
    }

    [[nodiscard]] const char* command() const {
        return request_.wanted.is_on_disk() ? "WAITAOF" : "WAIT";
    }

    [[nodiscard]] error refusal(const std::string& words) const {
        if (words.find("appendonly is disabled") != std::string::npos)
            return {errc::unsupported,
                    request_.subject +
                        " cannot be on disk, because the server has no append-only file; set "
                        "appendonly yes there, or leave out durability::disk."};
        if (words.starts_with("ERR unknown command"))
            return {errc::unsupported,
                    request_.subject + " cannot be durable, because the server does not know " +
                        command() +
                        (request_.wanted.is_on_disk()
                             ? "; durability::disk needs Redis 7.2 or Valkey."
                             : "; leave the durability out, or connect without the proxy.")};
        if (is_of_former_master(words))
            return {errc::unavailable, "the server is a replica by now"};
        return to_error(words, request_.subject);
    }

    [[nodiscard]] error failure() const {
        const auto& wanted = request_.wanted;
        auto sentence = request_.subject + " was granted, but ";
        if (!trouble_.empty())
            sentence += "the server did not say in time whether it is durable (" + trouble_ + ")";
        else if (wanted.is_on_disk())
            sentence += "it was not on the server's disk in time";
        else
            sentence += "only " + std::to_string(acknowledged_) + " of " +
                        core::plural(wanted.replica_count(), "replica") +
                        " acknowledged it in time";
        sentence += ", so it was released; ";
        sentence += wanted.is_on_disk()
                        ? "see whether the server's disk is slow (INFO persistence)."
                        : "see whether the replicas follow (INFO replication), or require fewer.";
        return {errc::not_durable, sentence};
    }

    acknowledgements& parent_;
    const request& request_;
    runtime& time_;
    core::back_off pauses_;
    core::wakeup timer_;
    const link* written_to_ = nullptr;
    std::uint64_t written_over_ = 0;  // the number of the connection
    std::int64_t acknowledged_ = 0;   // in the last answer
    // Why there was no answer; empty: there was one.
    std::string trouble_ = "earlier acquires of this client took the whole time";
};

acknowledgements::acknowledgements(const topology_factory& connect, const backend_context& context,
                                   const limits& bounds)
    : context_(context),
      bounds_(bounds),
      servers_(connect),
      turns_(*context_.time, context_.strand) {}

asio::awaitable<void> acknowledgements::wait(const request& wanted) {
    attempt own_attempt(*this, wanted);
    co_await own_attempt.run();
}

}  // namespace pawl::redis
