#include "name_look_up.hpp"

#include "../core/exhausted.hpp"
#include "../core/quiet_thread.hpp"

#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/redirect_error.hpp>

#include <netdb.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

namespace asio = boost::asio;
using boost::system::error_code;

namespace pawl::redis {

// All that the thread knows. The mutex below guards it.
struct name_look_up::state {
    std::vector<int> waiting;  // eventfds
    bool answered = false;
    error_code failure;
    std::vector<asio::ip::address> hosts;
};

namespace {

using look_ups = std::map<std::string, std::shared_ptr<void>>;

std::mutex guard;
look_ups* under_way = nullptr;  // lives as long as the process: a thread may outlive everything

// A child has the list but none of the threads.
const int watching_forks = ::pthread_atfork([] { guard.lock(); }, [] { guard.unlock(); },
                                            [] {
                                                under_way = nullptr;
                                                guard.unlock();
                                            });

error_code error_of(int failure) {
    switch (failure) {
    case EAI_AGAIN: return asio::error::host_not_found_try_again;
    case EAI_FAIL: return asio::error::no_recovery;
    case EAI_MEMORY: return asio::error::no_memory;
    case EAI_SYSTEM: return {errno, boost::system::system_category()};
    default: return asio::error::host_not_found;
    }
}

error_code ask(const std::string& host, std::vector<asio::ip::address>& to) {
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* first = nullptr;
    const int failed = ::getaddrinfo(host.c_str(), nullptr, &wanted, &first);
    if (failed != 0) return error_of(failed);
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(first, &::freeaddrinfo);
    for (const auto* each = first; each != nullptr; each = each->ai_next) {
        asio::ip::tcp::endpoint one;
        if (each->ai_addrlen > one.capacity()) continue;
        one.resize(each->ai_addrlen);
        std::memcpy(one.data(), each->ai_addr, each->ai_addrlen);
        if (std::find(to.begin(), to.end(), one.address()) == to.end()) to.push_back(one.address());
    }
    return to.empty() ? asio::error::host_not_found : error_code{};
}

}  // namespace

name_look_up::name_look_up(const asio::any_io_executor& on, std::string host)
    : host_(std::move(host)), answered_(on) {
    const int made = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (made < 0)
        throw core::exhausted("The name '" + host_ + "' cannot be looked up",
                              std::system_category().message(errno));
    answered_.assign(made);
    const std::lock_guard lock(guard);
    if (under_way == nullptr) under_way = new look_ups;
    const auto at = under_way->find(host_);
    if (at != under_way->end()) {
        state_ = std::static_pointer_cast<state>(at->second);
        state_->waiting.push_back(made);
        return;
    }
    if (under_way->size() >= most_look_ups)
        throw core::exhausted("The name '" + host_ + "' cannot be looked up",
                              std::to_string(most_look_ups) +
                                  " other names are being looked up without an answer so far");
    auto begun = std::make_shared<state>();
    begun->waiting.push_back(made);
    const auto entry = under_way->emplace(host_, begun).first;
    try {
        core::start_thread("looking up the name of a server", [name = host_, begun] {
            run(name, begun);
        }).detach();
    } catch (...) {
        under_way->erase(entry);
        throw;
    }
    state_ = std::move(begun);
}

void name_look_up::run(const std::string& host, const std::shared_ptr<state>& to) noexcept {
    std::vector<asio::ip::address> hosts;
    error_code failure;
    try {
        failure = ask(host, hosts);
    } catch (...) {
        failure = asio::error::no_memory;
    }
    const std::lock_guard lock(guard);
    to->answered = true;
    to->failure = failure;
    to->hosts = std::move(hosts);
    if (const auto at = under_way->find(host); at != under_way->end()) under_way->erase(at);
    for (const int each : to->waiting)
        ::eventfd_write(each, 1);
}

asio::awaitable<error_code> name_look_up::answer(std::uint16_t port, addresses& to) {
    error_code ec;
    auto token = asio::redirect_error(asio::deferred, ec);
    if (!answered_.is_open()) co_return asio::error::operation_aborted;
    co_await answered_.async_wait(asio::posix::descriptor_base::wait_read, token);
    const std::lock_guard lock(guard);
    if (!state_->answered) co_return ec ? ec : asio::error::operation_aborted;
    for (const auto& each : state_->hosts)
        to.push_back(asio::ip::tcp::endpoint(each, port));
    co_return state_->failure;
}

void name_look_up::cancel() noexcept {
    if (!answered_.is_open()) return;
    if (state_) {
        const std::lock_guard lock(guard);
        std::erase(state_->waiting, answered_.native_handle());
    }
    error_code ignored;
    answered_.close(ignored);
}

}  // namespace pawl::redis
