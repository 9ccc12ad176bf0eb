// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "sentinel_locator.hpp"

#include "query.hpp"

#include "../topology/epoch.hpp"
#include "../transport/options.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <utility>

namespace asio = boost::asio;

namespace pawl::redis {
namespace {

// The options of a refused connection to a Sentinel have other names than those of the servers.
error with_advice(const error& failure) {
    if (failure.reason() != errc::refused) return failure;
    const std::string sentence = failure.what();
    const auto beginning = sentence.substr(0, sentence.rfind("; "));
    if (beginning.find("\"NOAUTH") != std::string::npos)
        return {errc::refused, beginning +
                                   "; give the password by sentinel_password_file or "
                                   "sentinel_password_env in the URL."};
    return {errc::refused, beginning +
                               "; check the options sentinel_user, sentinel_password_file, "
                               "sentinel_ca and sentinel_tls_name, and the Sentinel's rights."};
}

// Why there is no answer, after the Sentinel's address.
std::string failure_text(const net::endpoint& server, const std::optional<error>& failure) {
    if (!failure) return text_of(server) + " gives no answer";
    std::string sentence = failure->what();
    const std::string prefix = "the Sentinel ";
    if (sentence.starts_with(prefix)) sentence.erase(0, prefix.size());
    sentence.erase(std::min(sentence.find("; "), sentence.size()));
    if (sentence.ends_with('.')) sentence.pop_back();
    return sentence;
}

std::string sentinel_name(const net::endpoint& server) { return "the Sentinel " + text_of(server); }

}  // namespace

sentinel_locator::sentinel_locator(const options& server_options, backend_context context,
                                   sentinel_link_factory connect, const sentinel_limits& bounds)
    : options_(server_options),
      set_(std::get<sentinels>(options_.where)),
      subject_(redis::describe(server_options)),
      context_(std::move(context)),
      connect_(std::move(connect)),
      bounds_(bounds) {}

sentinel_locator::~sentinel_locator() {
    for (const auto& each : sentinels_)
        each->connection->forget_listener();
}

void sentinel_locator::add_sentinel(net::endpoint server, bool was_discovered) {
    auto added = std::make_shared<sentinel>(std::move(server), was_discovered, context_);
    added->connection = connect_(added->server, *this, std::string(switch_channel));
    sentinels_.push_back(added);
    asio::co_spawn(context_.strand, watch(shared_from_this(), std::move(added)), asio::detached);
}

bool sentinel_locator::make_room() {
    if (sentinels_.size() < bounds_.max_sentinels) return true;
    const auto useless = std::ranges::find_if(sentinels_, [](const auto& each) {
        return each->was_discovered && each->failure.has_value();
    });
    if (useless == sentinels_.end()) return false;
    (*useless)->is_dropped = true;
    (*useless)->ask_again.notify();
    sentinels_.erase(useless);
    return true;
}

void sentinel_locator::add_members() {
    const auto views = views_since(0);
    const auto ids = members(views);
    std::vector<net::endpoint> unknown;
    for (const auto* view : views)
        for (const auto& peer : view->peers) {
            const bool is_known = std::ranges::any_of(sentinels_, [&](const auto& each) {
                return each->server == peer.server || (each->view && each->view->id == peer.id);
            });
            if (!is_known && ids.contains(peer.id) && std::ranges::count(unknown, peer.server) == 0)
                unknown.push_back(peer.server);
        }
    for (auto& server : unknown)
        if (make_room()) add_sentinel(std::move(server), true);
}

void sentinel_locator::begin_round() {
    ++round_;
    if (sentinels_.empty())
        for (const auto& [host, port] : set_.addresses)
            add_sentinel(net::make_endpoint(host, port, set_.tls), false);
    ask_all();
}

void sentinel_locator::ask_all() {
    for (const auto& each : sentinels_)
        each->ask_again.notify();
}

// Asks one Sentinel again and again. `self` keeps the locator alive.
asio::awaitable<void> sentinel_locator::watch(
    [[maybe_unused]] std::shared_ptr<sentinel_locator> self, std::shared_ptr<sentinel> watched) {
    while (!is_over(*watched)) {
        const auto round = round_;
        const auto began = context_.time->now();
        watched->is_being_asked = true;
        // Without memory there is neither a view nor a failure, and the Sentinel is asked again.
        try {
            auto view = co_await query_sentinel(watched->connection, options_,
                                                sentinel_name(watched->server),
                                                began + options_.reply_timeout);
            watched->view = std::move(view);
            watched->failure.reset();
            if (!is_over(*watched)) add_members();
        } catch (const error& e) {
            watched->view.reset();
            watched->failure = e;
        } catch (...) {
            watched->view.reset();
        }
        watched->is_being_asked = false;
        watched->answered_round = round;
        if (is_over(*watched)) break;
        follow_switch();
        for (auto* each : answer_waiters_)
            each->notify();
        const auto pause = watched->view ? bounds_.check_interval : bounds_.retry_pause;
        if (round_ == round) co_await watched->ask_again.wait_until(context_.time->now() + pause);
        const auto soonest = began + bounds_.min_pause;
        if (round_ == round && context_.time->now() < soonest && !is_over(*watched))
            co_await watched->short_pause.wait_until(soonest);
    }
    if (watched->is_dropped) co_await watched->connection->close(context_.time->now());
}

std::vector<const sentinel_view*> sentinel_locator::views_since(std::uint64_t round) const {
    std::vector<const sentinel_view*> views;
    for (const auto& each : sentinels_)
        if (each->view && each->answered_round >= round) views.push_back(&*each->view);
    return views;
}

bool sentinel_locator::all_answered(std::uint64_t round) const {
    return std::ranges::all_of(sentinels_,
                               [round](const auto& each) { return each->answered_round >= round; });
}

std::size_t sentinel_locator::needed_votes() const {
    return majority(views_since(0), set_.addresses.size());
}

asio::awaitable<location> sentinel_locator::next(time_point give_up_at) {
    begin_round();
    const auto round = round_;
    core::wakeup answered(*context_.time, context_.strand);
    const auto position = answer_waiters_.insert(answer_waiters_.end(), &answered);
    struct waiter_guard {
        std::list<core::wakeup*>& waiters;
        std::list<core::wakeup*>::iterator position;
        ~waiter_guard() { waiters.erase(position); }
    } const guard{answer_waiters_, position};
    while (!is_stopped_) {
        auto elected = elected_master(views_since(round), set_.addresses.size());
        if (elected) {
            located_ = *elected;
            has_located_ = true;
            co_return checked(std::move(*elected));
        }
        if (all_answered(round) || context_.time->now() >= give_up_at) break;
        co_await answered.wait_until(give_up_at);
    }
    throw no_master_error(round);
}

asio::awaitable<bool> sentinel_locator::confirm(const location& connected, time_point give_up_at) {
    const auto present = co_await next(give_up_at);
    co_return present == connected;
}

location sentinel_locator::checked(location elected) {
    if (elected.epoch > max_epoch)
        throw error(errc::unsupported,
                    subject_ + ": the Sentinels' config-epoch is " + std::to_string(elected.epoch) +
                        ", and a token has room for 65535; let the Sentinels forget the master "
                        "(SENTINEL REMOVE) and monitor it again under another name.");
    if (elected.epoch < highest_epoch_)
        log("the Sentinels' config-epoch has gone back from " + std::to_string(highest_epoch_) +
            " to " + std::to_string(elected.epoch));
    highest_epoch_ = elected.epoch = std::max(elected.epoch, highest_epoch_);
    return elected;
}

const error* sentinel_locator::majority_refusal() const {
    const error* refusal = nullptr;
    std::size_t refusing = 0;
    for (const auto& each : sentinels_) {
        const auto reason = each->failure ? each->failure->reason() : errc::unreachable;
        if (reason != errc::refused && reason != errc::unsupported && reason != errc::protocol)
            continue;
        if (refusal == nullptr) refusal = &*each->failure;
        ++refusing;
    }
    return sentinels_.size() - refusing < needed_votes() ? refusal : nullptr;
}

// If so many Sentinels refuse the client that the others are no majority, or if all fail for the
// same reason, that reason is the error. A master that was known may come back: an operator removes
// it and adds it again.
error sentinel_locator::no_master_error(std::uint64_t round) const {
    if (const auto* refusal = majority_refusal()) return with_advice(*refusal);
    std::optional<error> common_refusal;
    for (const auto& each : sentinels_) {
        const bool is_same = each->failure && (!common_refusal ||
                                               common_refusal->reason() == each->failure->reason());
        if (!is_same) return {errc::no_quorum, disagreement(round)};
        common_refusal = each->failure;
    }
    const auto reason = common_refusal ? common_refusal->reason() : errc::no_quorum;
    const bool may_pass = reason == errc::unreachable || reason == errc::unavailable ||
                          reason == errc::no_quorum || (reason == errc::bad_option && has_located_);
    if (may_pass) return {errc::no_quorum, disagreement(round)};
    return with_advice(*common_refusal);
}

std::string sentinel_locator::disagreement(std::uint64_t round) const {
    std::string answers;
    for (const auto& each : sentinels_) {
        if (!answers.empty()) answers += ", ";
        if (each->view && each->answered_round >= round)
            answers += text_of(each->server) + " names " + text_of(each->view->master.server) +
                       " with epoch " + std::to_string(each->view->master.epoch);
        else
            answers += failure_text(each->server, each->failure);
    }
    const auto views = views_since(round);
    if (views.empty()) return "no Sentinel names a master (" + answers + ")";
    return "no master is known: " + std::to_string(views.size()) +
           (views.size() == 1 ? " Sentinel answers" : " Sentinels answer") + ", and " +
           std::to_string(majority(views, set_.addresses.size())) + " must agree (" + answers + ")";
}

std::string sentinel_locator::progress() const {
    if (!answer_waiters_.empty() || !located_) return disagreement(round_);
    return "the master " + text_of(located_->server) + " has given no answer so far";
}

std::string sentinel_locator::advice() const {
    if (views_since(round_).empty())
        return "check that the Sentinels run there and the URL is right";
    return "a failover may be in progress, so wait longer, or see `pawl doctor`";
}

// Without memory, the next answer makes up for it.
void sentinel_locator::follow_switch() noexcept {
    if (!located_) return;
    try {
        const auto elected = elected_master(views_since(0), set_.addresses.size());
        if (!elected || *elected == *located_ || elected->epoch < located_->epoch) return;
        auto reason = "the Sentinels name " + text_of(elected->server) + " as the master now";
        if (moved_) moved_(std::move(reason));
        located_.reset();
    } catch (const std::bad_alloc&) {}
}

void sentinel_locator::on_message(std::string_view channel, std::string_view payload) {
    const auto& name = set_.master_name;
    if (channel != switch_channel || !payload.starts_with(name + " ")) return;
    ask_all();  // the others adopt the switch at about the same time
}

// An announcement may have been lost while there was no connection.
void sentinel_locator::on_connected(const link& connected_link) {
    for (const auto& each : sentinels_)
        if (each->connection.get() == &connected_link && !each->is_being_asked)
            each->ask_again.notify();
}

void sentinel_locator::stop() noexcept {
    is_stopped_ = true;
    ask_all();
    for (auto* each : answer_waiters_)
        each->notify();
}

asio::awaitable<void> sentinel_locator::close(time_point give_up_at) {
    for (const auto& each : std::list(sentinels_))
        co_await each->connection->close(give_up_at);
}

sentinel_locator::status sentinel_locator::status_of(const sentinel& asked) const {
    status result{text_of(asked.server), asked.view, {}, {}};
    if (!asked.failure) return result;
    const std::string sentence = with_advice(*asked.failure).what();
    const auto advice = std::min(sentence.find("; "), sentence.size());
    result.failure = sentence.substr(0, advice);
    const auto subject = sentinel_name(asked.server);
    if (result.failure.starts_with(subject))
        result.failure.erase(0, result.failure.find_first_not_of(": ", subject.size()));
    if (asked.failure->reason() == errc::unreachable || advice == sentence.size()) return result;
    result.advice = sentence.substr(advice + 2);
    if (result.advice.ends_with('.')) result.advice.pop_back();
    return result;
}

std::vector<sentinel_locator::status> sentinel_locator::statuses() const {
    std::vector<status> result;
    for (const auto& each : sentinels_)
        result.push_back(status_of(*each));
    return result;
}

}  // namespace pawl::redis
