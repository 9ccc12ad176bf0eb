// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "faulty_topology.hpp"

#include <redis_scripts.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;

namespace pawl::simulation {
namespace {

bool is_undo(std::span<const std::string_view> words) {
    const auto& undo = redis::scripts::leave;
    return words.size() > 1 && (words[1] == undo.sha1 || words[1] == undo.text);
}

class faulty_link final : public redis::link {
public:
    faulty_link(redis::link& correct, redis::link& first, injected_bug bug) noexcept
        : correct_(correct), first_(first), bug_(bug) {}

    asio::awaitable<redis::reply> exec(std::span<const std::string_view> words,
                                       time_point give_up_at, redis::prelude before) override {
        if (bug_ == injected_bug::undo_sent_to_first_server && is_undo(words))
            return first_.exec(words, give_up_at, before);
        if (bug_ == injected_bug::undo_waits_for_first_server && is_undo(words))
            return exec_after_first({words.begin(), words.end()}, give_up_at);
        return correct_.exec(words, give_up_at, before);
    }
    asio::awaitable<void> subscribe(std::string channel, time_point give_up_at) override {
        return correct_.subscribe(std::move(channel), give_up_at);
    }
    void unsubscribe(const std::string& channel) noexcept override {
        correct_.unsubscribe(channel);
    }
    const redis::session& current() const noexcept override { return correct_.current(); }
    bool connected() const noexcept override { return correct_.connected(); }
    asio::awaitable<void> close(time_point give_up_at) override {
        return correct_.close(give_up_at);
    }
    [[nodiscard]] bool is_of(const redis::link& other) const noexcept {
        return &correct_ == &other;
    }

private:
    asio::awaitable<redis::reply> exec_after_first(std::vector<std::string> words,
                                                   time_point give_up_at) {
        constexpr std::array<std::string_view, 1> ping{"PING"};
        static_cast<void>(co_await first_.exec(ping, give_up_at));
        const std::vector<std::string_view> views(words.begin(), words.end());
        co_return co_await correct_.exec(views, give_up_at);
    }

    redis::link& correct_;
    redis::link& first_;
    const injected_bug bug_;
};

class faulty_topology final : public redis::topology, private redis::link::listener {
public:
    faulty_topology(const redis::topology_factory& connect, redis::link::listener& receiver,
                    const std::string& channel, injected_bug bug)
        : receiver_(receiver), correct_(connect(*this, channel)) {
        for (auto* each : correct_->links()) {
            owned_links_.push_back(
                std::make_unique<faulty_link>(*each, *correct_->links().front(), bug));
            links_.push_back(owned_links_.back().get());
        }
    }

    [[nodiscard]] redis::link& link_of(std::string_view key) const noexcept override {
        return faulty_link_of(correct_->link_of(key));
    }
    [[nodiscard]] std::span<redis::link* const> links() const noexcept override { return links_; }

private:
    [[nodiscard]] faulty_link& faulty_link_of(const redis::link& correct) const noexcept {
        return **std::ranges::find_if(owned_links_,
                                      [&](const auto& each) { return each->is_of(correct); });
    }
    void on_message(std::string_view channel, std::string_view payload) override {
        receiver_.on_message(channel, payload);
    }
    void on_invalidate(std::string_view key) override { receiver_.on_invalidate(key); }
    void on_connected(const redis::link& connected_link) override {
        receiver_.on_connected(faulty_link_of(connected_link));
    }

    redis::link::listener& receiver_;
    const std::shared_ptr<redis::topology> correct_;
    std::vector<std::unique_ptr<faulty_link>> owned_links_;
    std::vector<redis::link*> links_;
};

}  // namespace

redis::topology_factory faulty_topology_factory(redis::topology_factory connect, injected_bug bug) {
    return [connect = std::move(connect), bug](redis::link::listener& receiver,
                                               const std::string& channel) {
        return std::make_shared<faulty_topology>(connect, receiver, channel, bug);
    };
}

}  // namespace pawl::simulation
