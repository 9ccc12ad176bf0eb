#include "ears.hpp"

#include <array>

namespace pawl::redis {

void ears::on_message(std::string_view channel, std::string_view payload) {
    const auto [begin, end] = all_.equal_range(channel);
    for (auto at = begin; at != end; ++at) {
        // A waiter reads them at once, unless it has a question under way, which the server that
        // sends them may leave without an answer. An empty one says that some were missed.
        if (at->second->messages.size() >= most_messages_)
            at->second->messages.assign(1, std::string());
        else
            at->second->messages.emplace_back(payload);
        at->second->woken.ring();
    }
}

void ears::on_connected() {
    for (const auto& [channel, one] : all_) {
        one->messages.emplace_back();
        one->woken.ring();
    }
}

boost::asio::awaitable<std::string_view> ears::publish(time_point give_up_at) {
    const std::array<std::string_view, 1> ping{"PING"};
    while (!link_.connected())
        co_await link_.exec(ping, give_up_at);
    co_return link_.current().sharded ? "SPUBLISH" : "PUBLISH";
}

boost::asio::awaitable<reply> ears::count(std::string_view channel, time_point give_up_at) {
    const auto how = co_await publish(give_up_at);
    const std::array<std::string_view, 3> words{
        "PUBSUB", how == "SPUBLISH" ? "SHARDNUMSUB" : "NUMSUB", channel};
    auto answer = co_await link_.exec(words, give_up_at);
    co_return answer;
}

ears::ear::ear(ears& home, std::string channel)
    : woken(home.time_, home.strand_),
      home_(home),
      here_(home.all_.emplace(std::move(channel), this)) {}

ears::ear::~ear() {
    const auto entry = home_.all_.extract(here_);  // needs no memory, as a copy of the name may
    if (listens_) home_.link_.unsubscribe(entry.key());
}

boost::asio::awaitable<void> ears::ear::listen(time_point give_up_at) {
    co_await home_.link_.subscribe(here_->first, give_up_at);
    listens_ = true;
}

}  // namespace pawl::redis
