// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "topology_bugs.hpp"

#include "../server/known_scripts.hpp"
#include "../server/replies.hpp"
#include "forwarding_link.hpp"

#include <boost/asio/awaitable.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;

namespace pawl::simulation {
namespace {

using redis::reply;

bool is_script(std::span<const std::string_view> words, std::string_view name) {
    const auto* const script = words.size() > 1 ? find_script(words[1]) : nullptr;
    return script != nullptr && script->name == name;
}

bool is_renewal(std::span<const std::string_view> words) {
    return is_script(words, "renew") || is_script(words, "renew_non_exclusive");
}

bool is_release(std::span<const std::string_view> words) {
    return is_script(words, "release") || is_script(words, "release_non_exclusive");
}

// One result for each lock of the renewal.
reply renewal_reply(std::span<const std::string_view> words, std::int64_t result) {
    const auto count = std::stoul(std::string(words[2]));
    return array_reply(std::vector<reply>(count, integer_reply(result)));
}

bool is_undo_of_acquire(std::span<const std::string_view> words) {
    return is_script(words, "leave");
}

bool is_refused_by_slot(const reply& answer) {
    static constexpr std::array<std::string_view, 3> codes{"MOVED ", "ASK ", "TRYAGAIN "};
    return answer.type == reply::kind::error &&
           std::ranges::any_of(codes, [&](auto code) { return answer.text.starts_with(code); });
}

// In "FLOOR KEEP_MS REPLICATION" of _token.lua: 8 hexadecimal digits.
constexpr std::size_t replication_size = 8;

bool has_replication(std::string_view word) {
    return word.size() > replication_size && std::ranges::count(word, ' ') == 2 &&
           word.rfind(' ') + 1 + replication_size == word.size();
}

using lines = std::vector<std::vector<std::string>>;

lines parse_view(const std::string& view) {
    std::istringstream text(view);
    lines result;
    for (std::string line; std::getline(text, line);) {
        std::istringstream fields(line);
        auto& parsed = result.emplace_back();
        for (std::string field; fields >> field;)
            parsed.push_back(field);
    }
    return result;
}

std::string text_of(const lines& view) {
    std::string result;
    for (const auto& line : view) {
        for (std::size_t i = 0; i < line.size(); ++i)
            result += (i > 0 ? " " : "") + line[i];
        result += "\n";
    }
    return result;
}

// Of each line in the reply to CLUSTER NODES.
constexpr std::size_t id_field = 0, flags_field = 2, epoch_field = 6;

void rotate_epochs(lines& view) {
    std::vector<std::string*> epochs;
    for (auto& line : view)
        if (line[flags_field].find("master") != std::string::npos)
            epochs.push_back(&line[epoch_field]);
    for (std::size_t i = 1; i < epochs.size(); ++i)
        std::swap(*epochs[i - 1], *epochs[i]);
}

class faulty_server_link final : public forwarding_link {
public:
    faulty_server_link(topology_bug bug, std::shared_ptr<redis::link> actual)
        : forwarding_link(std::move(actual)), bug_(bug) {}

    asio::awaitable<reply> exec(std::span<const std::string_view> words, time_point give_up_at,
                                redis::prelude before) override {
        const bool is_sync = words.front() == "WAITAOF";
        waits_ = waits_ || is_sync || words.front() == "WAIT";
        if (bug_ == topology_bug::wait_without_write && waits_ && is_renewal(words))
            co_return renewal_reply(words, 1);
        if (bug_ == topology_bug::asking_not_sent && before == redis::prelude::ask)
            before = redis::prelude::none;
        if (bug_ == topology_bug::replication_not_compared)
            co_return co_await exec_with_replication({words.begin(), words.end()}, give_up_at,
                                                     before);
        const bool is_ended = bug_ == topology_bug::releases_ended_by_move && is_release(words);
        const bool is_view = words.front() == "CLUSTER";
        const bool is_wait = words.front() == "WAIT";
        const auto wanted = is_wait ? std::stoll(std::string(words[1])) : 0;
        auto answer = co_await actual_->exec(words, give_up_at, before);
        if (is_ended && is_refused_by_slot(answer)) co_return integer_reply(1);
        if (is_view)
            change_view(answer);
        else if (is_wait)
            change_count(answer, wanted);
        else if (is_sync && bug_ == topology_bug::sync_not_counted)
            answer = array_reply({integer_reply(1), integer_reply(0)});
        else if (answer.type == reply::kind::error)
            change_error(answer);
        co_return answer;
    }
    asio::awaitable<void> subscribe(std::string channel, time_point give_up_at) override {
        return actual_->subscribe(std::move(channel), give_up_at);
    }
    void unsubscribe(const std::string& channel) noexcept override {
        actual_->unsubscribe(channel);
    }

private:
    // Names the node's present replication, so that the script sees no other one.
    asio::awaitable<reply> exec_with_replication(std::vector<std::string> words,
                                                 time_point give_up_at, redis::prelude before) {
        const auto floor = std::ranges::find_if(
            words, [](const std::string& each) { return has_replication(each); });
        if (floor != words.end()) {
            static constexpr std::array<std::string_view, 2> question{"INFO", "replication"};
            const auto info = co_await actual_->exec(question, give_up_at);
            static constexpr std::string_view field = "master_replid:";
            const auto begin = info.text.find(field) + field.size();
            floor->replace(floor->size() - replication_size, replication_size,
                           info.text.substr(begin, replication_size));
        }
        const std::vector<std::string_view> views(words.begin(), words.end());
        co_return co_await actual_->exec(views, give_up_at, before);
    }
    void change_view(reply& answer) {
        if (answer.type == reply::kind::error) return;
        auto view = parse_view(answer.text);
        switch (bug_) {
        case topology_bug::epochs_left_out:
            for (auto& line : view)
                line[epoch_field] = "0";
            break;
        case topology_bug::replicas_forgotten:
            std::erase_if(view, [](const auto& line) { return line[flags_field] == "slave"; });
            break;
        case topology_bug::epochs_of_other_nodes: rotate_epochs(view); break;
        case topology_bug::stale_epochs_believed:
            for (auto& line : view)
                line[epoch_field] =
                    first_epochs_.try_emplace(line[id_field], line[epoch_field]).first->second;
            break;
        case topology_bug::view_never_renewed:
            if (first_view_.empty()) first_view_ = answer.text;
            answer.text = first_view_;
            return;
        default: return;
        }
        answer.text = text_of(view);
    }
    void change_count(reply& answer, std::int64_t wanted) const {
        const bool is_enough = bug_ == topology_bug::wait_not_counted ||
                               (bug_ == topology_bug::any_replica_suffices && answer.number > 0);
        if (is_enough) answer = integer_reply(std::max(answer.number, wanted));
        if (bug_ == topology_bug::master_counts_as_copy) answer = integer_reply(answer.number + 1);
    }
    void change_error(reply& answer) const {
        const auto hides = [&](topology_bug bug, std::string_view code) {
            return bug_ == bug && answer.text.starts_with(code);
        };
        if (hides(topology_bug::moved_taken_as_refusal, "MOVED ") ||
            hides(topology_bug::ask_taken_as_final, "ASK ") ||
            hides(topology_bug::try_again_taken_as_final, "TRYAGAIN ") ||
            hides(topology_bug::cluster_down_taken_as_final, "CLUSTERDOWN ") ||
            hides(topology_bug::read_only_ignored, "READONLY "))
            answer.text = "ERR " + answer.text;
    }

    const topology_bug bug_;
    std::string first_view_;
    std::map<std::string, std::string> first_epochs_;
    bool waits_ = false;
};

// Puts keys of several slots into one request.
class topology_with_bug final : public redis::topology, private redis::link::listener {
public:
    topology_with_bug(const redis::topology_factory& connect, redis::link::listener& receiver,
                      const std::string& channel)
        : receiver_(&receiver), actual_(connect(*this, channel)) {}

    redis::link& link_of(std::string_view key) const noexcept override {
        return actual_->link_of(key);
    }
    std::span<redis::link* const> links() const noexcept override { return actual_->links(); }
    bool may_share_request(std::string_view, std::string_view) const noexcept override {
        return true;
    }
    bool has_slots() const noexcept override { return false; }
    asio::awaitable<bool> follow(redis::redirection& progress, std::string_view key,
                                 redis::link& asked, reply& refusal,
                                 time_point give_up_at) override {
        return actual_->follow(progress, key, asked, refusal, give_up_at);
    }
    bool may_follow(const reply& refusal) const noexcept override {
        return actual_->may_follow(refusal);
    }
    asio::awaitable<void> close(time_point give_up_at) override {
        return actual_->close(give_up_at);
    }
    void forget_listener() noexcept override {
        receiver_ = nullptr;
        actual_->forget_listener();
    }

private:
    void on_message(std::string_view channel, std::string_view payload) override {
        if (receiver_ != nullptr) receiver_->on_message(channel, payload);
    }
    void on_invalidate(std::string_view key) override {
        if (receiver_ != nullptr) receiver_->on_invalidate(key);
    }
    void on_connected(const redis::link& connected_link) override {
        if (receiver_ != nullptr) receiver_->on_connected(connected_link);
    }
    void on_disconnected(const redis::link& ended) noexcept override {
        if (receiver_ != nullptr) receiver_->on_disconnected(ended);
    }

    redis::link::listener* receiver_;
    const std::shared_ptr<redis::topology> actual_;
};

}  // namespace

std::shared_ptr<redis::link> inject_link_bug(topology_bug bug, std::shared_ptr<redis::link> into) {
    if (bug == topology_bug::none) return into;
    return std::make_shared<faulty_server_link>(bug, std::move(into));
}

redis::topology_factory inject_topology_bug(topology_bug bug, redis::topology_factory into) {
    if (bug != topology_bug::requests_mix_nodes) return into;
    return [into = std::move(into)](redis::link::listener& receiver, const std::string& channel) {
        return std::make_shared<topology_with_bug>(into, receiver, channel);
    };
}

std::optional<reply> answer_of_old_master(topology_bug bug,
                                          std::span<const std::string_view> words) {
    if (bug == topology_bug::renewals_at_old_master && is_renewal(words))
        return renewal_reply(words, 1);
    if (bug == topology_bug::releases_at_old_master && is_release(words)) return integer_reply(1);
    if (bug == topology_bug::undos_at_old_master && is_undo_of_acquire(words))
        return integer_reply(1);
    return std::nullopt;
}

void change_answer_after_switch(topology_bug bug, std::span<const std::string> words,
                                reply& answer) {
    const std::vector<std::string_view> views(words.begin(), words.end());
    if (bug != topology_bug::refusals_ignored_after_switch || !is_renewal(views)) return;
    for (auto& each : answer.items)
        if (each.type == reply::kind::integer && each.number == 0) each.number = 1;
}

}  // namespace pawl::simulation
