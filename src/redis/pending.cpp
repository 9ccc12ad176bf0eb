#include "pending.hpp"

#include "connection.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include <charconv>

namespace asio = boost::asio;

namespace pawl::redis {
namespace {

void append_number(std::string& to, char mark, std::size_t number) {
    char text[24];
    text[0] = mark;
    auto* end = std::to_chars(text + 1, text + sizeof text - 2, number).ptr;
    *end++ = '\r';
    *end++ = '\n';
    to.append(text, end);
}

}  // namespace

void append_command(std::string& to, std::span<const std::string_view> words) {
    auto size = to.size() + 16;
    for (const auto& word : words)
        size += word.size() + 16;
    to.reserve(size);
    append_number(to, '*', words.size());
    for (const auto& word : words) {
        append_number(to, '$', word.size());
        to += word;
        to += "\r\n";
    }
}

void pending::wait(handler done) {
    // It was erased first: making the erased handler takes the slot for itself.
    done_ = std::move(done);
    auto slot = asio::get_associated_cancellation_slot(done_);
    if (slot.is_connected()) {
        slot.assign([this](asio::cancellation_type) {
            cancelled_ = true;
            complete_soon();
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
