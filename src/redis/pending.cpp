#include "pending.hpp"

#include "connection.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <charconv>

namespace asio = boost::asio;

namespace pawl::redis {
namespace {

constexpr std::size_t number_size = 24;  // a mark, 20 digits, the end of the line

char* put_line(char* at, char mark, std::size_t number) {
    *at++ = mark;
    at = std::to_chars(at, at + 20, number).ptr;
    *at++ = '\r';
    *at++ = '\n';
    return at;
}

}  // namespace

void append_command(std::string& to, std::span<const std::string_view> words) {
    const auto begin = to.size();
    auto most = begin + number_size;
    for (const auto& word : words)
        most += number_size + word.size() + 2;
    to.resize(most);
    auto* at = put_line(to.data() + begin, '*', words.size());
    for (const auto& word : words) {
        at = put_line(at, '$', word.size());
        at = std::copy(word.begin(), word.end(), at);
        *at++ = '\r';
        *at++ = '\n';
    }
    to.resize(static_cast<std::size_t>(at - to.data()));
}

void pending::wait(handler done) {
    // It was erased first: making the erased handler takes the slot for itself.
    done_ = std::move(done);
    auto slot = asio::get_associated_cancellation_slot(done_);
    if (slot.is_connected()) {
        // It may be called when this is gone: the connection knows.
        slot.assign([on = on_->weak_from_this(), number = number_](asio::cancellation_type) {
            if (const auto alive = on.lock()) alive->cancel(number);
        });
    }
}

void pending::take(reply message, bool last) {
    if (!last) {
        earlier.push_back(std::move(message));
        return;
    }
    on_ = nullptr;
    answer = std::move(message);
    auto done = std::move(done_);
    std::move(done)();  // the frame that this lives in may be gone afterwards
}

void pending::cancel() {
    cancelled_ = true;
    complete_soon();
}

void pending::fail(const std::string& why) {
    failure_ = why;
    complete_soon();
}

// Never inside the caller's cancellation, nor in a walk through those who wait.
void pending::complete_soon() {
    if (on_ == nullptr) return;
    auto on = on_->strand_;
    leave();
    asio::post(on, std::move(done_));
}

void pending::throw_failure(const std::string& about) const {
    if (cancelled_) throw boost::system::system_error(asio::error::operation_aborted);
    if (!failure_.empty()) throw connection_lost(about + ": " + failure_);
}

void pending::leave() noexcept {
    if (auto* on = std::exchange(on_, nullptr)) on->forget(number_);
}

void pending::drop() noexcept {
    on_ = nullptr;
    const auto done = std::move(done_);
}

}  // namespace pawl::redis
