// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "cluster_bugs.hpp"

#include <boost/asio/awaitable.hpp>

#include <sstream>
#include <string>

namespace asio = boost::asio;

namespace pawl::simulation {
namespace {

using redis::reply;

// The seventh field of each line is the config epoch.
std::string without_epochs(const std::string& view) {
    std::istringstream lines(view);
    std::string result;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string field;
        for (int i = 0; fields >> field; ++i)
            result += (i > 0 ? " " : "") + (i == 6 ? "0" : field);
        result += "\n";
    }
    return result;
}

class faulty_node_link final : public redis::link {
public:
    faulty_node_link(cluster_bug bug, std::shared_ptr<redis::link> actual)
        : bug_(bug), actual_(std::move(actual)) {}

    asio::awaitable<reply> exec(std::span<const std::string_view> words, time_point give_up_at,
                                redis::prelude before) override {
        const bool is_view = words.front() == "CLUSTER";
        auto answer = co_await actual_->exec(words, give_up_at, before);
        if (is_view)
            change_view(answer);
        else
            change_error(answer);
        co_return answer;
    }
    asio::awaitable<void> subscribe(std::string channel, time_point give_up_at) override {
        return actual_->subscribe(std::move(channel), give_up_at);
    }
    void unsubscribe(const std::string& channel) noexcept override {
        actual_->unsubscribe(channel);
    }
    const redis::session& current() const noexcept override { return actual_->current(); }
    bool connected() const noexcept override { return actual_->connected(); }
    asio::awaitable<void> close(time_point give_up_at) override {
        return actual_->close(give_up_at);
    }
    void forget_listener() noexcept override { actual_->forget_listener(); }

private:
    void change_view(reply& view) {
        if (bug_ == cluster_bug::epochs_left_out) view.text = without_epochs(view.text);
        if (bug_ != cluster_bug::view_never_renewed) return;
        if (first_view_.empty()) first_view_ = view.text;
        view.text = first_view_;
    }
    void change_error(reply& answer) const {
        if (answer.type != reply::kind::error) return;
        const bool is_hidden =
            (bug_ == cluster_bug::moved_taken_as_refusal && answer.text.starts_with("MOVED")) ||
            (bug_ == cluster_bug::try_again_taken_as_final && answer.text.starts_with("TRYAGAIN"));
        if (is_hidden) answer.text = "ERR " + answer.text;
    }

    const cluster_bug bug_;
    const std::shared_ptr<redis::link> actual_;
    std::string first_view_;
};

}  // namespace

std::shared_ptr<redis::link> inject_link_bug(cluster_bug bug, std::shared_ptr<redis::link> into) {
    if (bug == cluster_bug::none) return into;
    return std::make_shared<faulty_node_link>(bug, std::move(into));
}

}  // namespace pawl::simulation
