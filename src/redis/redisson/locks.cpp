#include "locks.hpp"

#include "../server_errors.hpp"

#include "../../core/chance.hpp"

#include <array>
#include <charconv>

namespace asio = boost::asio;

namespace pawl::redis::redisson {
namespace {

// A random UUID, of version 4.
std::string random_uuid(runtime& time) {
    auto text = core::random_hex(time, 16);
    text[12] = '4';
    text[16] = "89ab"[text[16] % 4];
    for (const auto at : {20u, 16u, 12u, 8u})
        text.insert(at, 1, '-');
    return text;
}

}  // namespace

std::unique_ptr<backend> make_backend(const options& where, const backend_context& context,
                                      const link_factory& connect) {
    return std::make_unique<locks>(where, context, connect);
}

locks::locks(const options& where, backend_context context, const link_factory& connect)
    : where_(where),
      context_(std::move(context)),
      naming_(where.key),
      client_(random_uuid(*context_.time)),
      link_(connect(*this, "")),
      scripts_(*link_) {}

asio::awaitable<void> locks::connect(time_point give_up_at) {
    const std::array<std::string_view, 1> ping{"PING"};
    while (!link_->connected())
        co_await link_->exec(ping, give_up_at);
}

asio::awaitable<void> locks::pause(duration at_least, duration at_most) {
    core::alarm timer(time(), context_.strand);
    co_await timer.wait_until(now() + core::random_between(time(), at_least, at_most));
}

void locks::on_message(std::string_view channel, std::string_view) {
    const auto [begin, end] = ears_.equal_range(channel);
    for (auto at = begin; at != end; ++at)
        at->second->woken.ring();
}

// What was published meanwhile is gone: every waiter looks.
void locks::on_connected(const session&) {
    for (const auto& [channel, one] : ears_)
        one->woken.ring();
}

asio::awaitable<void> locks::close() {
    const auto until = now() + context_.drain;
    core::alarm tick(time(), context_.strand);
    while (busy_ > 0 && now() < until)
        co_await tick.wait_until(now() + std::chrono::milliseconds(2));
    closing_ = true;
    co_await link_->close(until);
    while (busy_ > 0)
        co_await tick.wait_until(now() + std::chrono::milliseconds(2));
}

// A token is the counter that Java counts with, no clock behind it. A release frees the lock and
// tells all who wait: whoever asks first has it. An owner is a UUID and a number.
promises locks::promised() const noexcept {
    promises made;
    made.survives_restart = false;
    made.names_holders = false;
    made.hands_over = false;
    made.order = fairness::none;
    return made;
}

std::string milliseconds(duration d) {
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(d).count());
}

std::int64_t number(const reply& from) {
    if (from.what == reply::kind::integer) return from.number;
    std::int64_t value = 0;
    std::from_chars(from.text.data(), from.text.data() + from.text.size(), value);
    return value;
}

// Redis 6 puts the name of the script before what a command said in it.
bool of_another_type(const reply& answer) {
    return answer.what == reply::kind::error && answer.text.find("WRONGTYPE") != std::string::npos;
}

void refuse(const reply& answer, const std::string& key) {
    if (of_another_type(answer))
        throw error(errc::wrong_type,
                    key +
                        ": holds something that is no lock of Redisson's RLock or FencedLock; "
                        "for a lock of Pawl's native layout or another SET NX PX library leave "
                        "out layout=redisson, for another program's data choose another name.");
    refuse_errors(answer, key);
}

}  // namespace pawl::redis::redisson
