#include "pending.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace asio = boost::asio;
namespace bredis = boost::redis;

namespace pawl::redis {

bredis::any_adapter adapt(reply_builder& into) {
    return bredis::any_adapter([&into](bredis::any_adapter::parse_event event,
                                       const bredis::resp3::node_view& node,
                                       boost::system::error_code&) {
        if (event == bredis::any_adapter::parse_event::node) into.add(node);
    });
}

struct pending::start {
    pending* one;
    bredis::connection* on;

    template <class Handler>
    void operator()(Handler&& done) const {
        // Erased first: making the erased handler takes the slot for itself.
        one->done_ = std::forward<Handler>(done);
        auto slot = asio::get_associated_cancellation_slot(one->done_);
        if (slot.is_connected())
            slot.assign([self = one->shared_from_this()](asio::cancellation_type) {
                self->complete(asio::error::operation_aborted, false);
            });
        one->strand_ = on->get_executor();
        // Boost.Redis writes into this object until it is done, whatever became of the caller.
        on->async_exec(one->request, adapt(one->builder),
                       [self = one->shared_from_this()](boost::system::error_code ec, std::size_t) {
                           if (ec && self->failure.empty()) self->failure = "the connection broke";
                           self->complete({}, true);
                       });
    }
};

void pending::join(list& all) {
    all_ = &all;
    here_ = all.insert(all.end(), shared_from_this());
}

asio::awaitable<void> pending::sent(bredis::connection& on) {
    const start begin{this, &on};
    co_await asio::async_initiate<const asio::use_awaitable_t<>, void(boost::system::error_code)>(
        begin, asio::use_awaitable);
}

void pending::fail(const std::string& why) {
    if (failure.empty()) failure = why;
    complete({}, false);
}

void pending::complete(boost::system::error_code ec, bool inside) {
    const auto self = shared_from_this();
    if (auto* all = std::exchange(all_, nullptr)) all->erase(here_);
    if (!done_) return;
    auto done = std::move(done_);
    done_ = nullptr;
    if (inside)
        std::move(done)(ec);
    else
        asio::post(strand_, asio::append(std::move(done), ec));
}

}  // namespace pawl::redis
