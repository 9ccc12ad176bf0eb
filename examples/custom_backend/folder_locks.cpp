// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A backend of one file: exclusive locks with fencing tokens in a folder that several hosts share,
// for example over NFS. docs/contributing/writing-a-backend.md has the rules that it follows, but
// for one: its calls block the event loop. Where they may be slow, they need a thread of their own.
#include "folder_locks.hpp"

#include <pawl/error.hpp>
#include <pawl/spi/backend.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using namespace pawl;
using namespace pawl::spi;
using namespace std::chrono_literals;

struct stored_hold {
    std::string owner;
    std::uint64_t token = 0;
    std::int64_t expires = 0;  // in nanoseconds of the file server's clock
};

// The folder's locks, while no other client reads or changes them.
class locked_folder {
public:
    explicit locked_folder(fs::path path) : path_(std::move(path)) {
        const int file_number = mutex_ ? ::fileno(mutex_.get()) : -1;
        struct stat written {};
        // The kernel passes the mutex on if its holder dies. The file server sets the time.
        if (!mutex_ || ::flock(file_number, LOCK_EX) != 0 ||
            ::futimens(file_number, nullptr) != 0 || ::fstat(file_number, &written) != 0)
            fail(errno);
        now = written.st_mtim.tv_sec * 1'000'000'000 + written.st_mtim.tv_nsec;
        std::ifstream file(path_ / "locks");
        file >> last_token;
        std::string name;
        stored_hold each;
        while (file >> std::quoted(name) >> each.owner >> each.token >> each.expires)
            if (each.expires > now) holds[name] = each;
    }

    // In one step: a process that dies here leaves the old file.
    void save() const {
        std::ofstream file(path_ / "locks.new", std::ios::trunc);
        file << last_token << '\n';
        for (const auto& [name, each] : holds)
            file << std::quoted(name) << ' ' << each.owner << ' ' << each.token << ' '
                 << each.expires << '\n';
        file.close();
        if (!file) fail(EIO);
        if (std::rename((path_ / "locks.new").c_str(), (path_ / "locks").c_str()) != 0) fail(errno);
    }
    // The hold of that owner; null if it has ended.
    stored_hold* find(const claim& requested) {
        const auto found = holds.find(requested.name);
        if (found == holds.end() || found->second.owner != requested.owner) return nullptr;
        return &found->second;
    }

    std::map<std::string, stored_hold, std::less<>> holds;  // that have not expired
    std::uint64_t last_token = 0;
    std::int64_t now = 0;

private:
    // Transient: the folder may come back, and the core repeats the acquire until then.
    [[noreturn]] void fail(int number) const {
        const bool is_forbidden = number == EACCES || number == EPERM || number == EROFS;
        throw error(is_forbidden ? errc::refused : errc::unreachable,
                    "The folder " + path_.string() + " cannot be used (" + std::strerror(number) +
                        "); mount it, or give this user the right to write in it.");
    }

    const fs::path path_;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> mutex_{
        std::fopen((path_ / "mutex").c_str(), "ae"), &std::fclose};
};

class folder_locks final : public backend {
public:
    folder_locks(fs::path path, backend_context context)
        : path_(std::move(path)), context_(std::move(context)) {}

    // The folder has no queue: an attempt does not wait, and the core polls.
    asio::awaitable<std::optional<grant>> acquire(const claim& requested, time_point) override {
        const auto sent_at = begin_request();
        locked_folder folder(path_);
        if (folder.holds.contains(requested.name)) co_return std::nullopt;
        const auto expires = folder.now + requested.ttl.count();
        folder.holds[requested.name] = {requested.owner, ++folder.last_token, expires};
        folder.save();
        grant granted;
        granted.deadline = sent_at + requested.ttl - drift(requested.ttl);
        granted.token = fencing_token(folder.last_token);
        co_return granted;
    }
    asio::awaitable<void> renew(renewal_batch& batch) override {
        const auto sent_at = begin_request();
        std::vector<renewal::outcome> outcomes;
        try {
            locked_folder folder(path_);
            for (const auto& each : batch.renewals()) {
                auto* found = folder.find(each.held->claim);
                if (found) found->expires = folder.now + each.ttl.count();
                outcomes.push_back(found ? renewal::outcome::extended : renewal::outcome::refused);
            }
            folder.save();
        } catch (const error&) {
            co_return;  // no answer: the core renews again while there is time
        }
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            const auto ttl = batch.renewals()[i].ttl;
            batch.settle(i, outcomes[i], sent_at + ttl - drift(ttl));
        }
    }
    asio::awaitable<release_result> release(const hold& held) override {
        begin_request();
        try {
            co_return release_at(path_, held.claim);
        } catch (const error&) {
            asio::co_spawn(context_.strand, release_later(path_, context_, held.claim, is_closed_),
                           asio::detached);
        }
        co_return release_result::unknown;
    }
    asio::awaitable<lock_info> inspect(std::string_view name) override {
        const locked_folder folder(path_);
        co_return info_of(folder, std::string(name));
    }
    asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override {
        const locked_folder folder(path_);
        std::vector<lock_info> found;
        for (const auto& [name, each] : folder.holds)
            if (name.starts_with(prefix)) found.push_back(info_of(folder, name));
        co_return found;
    }
    asio::awaitable<bool> force_release(std::string_view name, fencing_token expected) override {
        locked_folder folder(path_);
        const auto found = folder.holds.find(name);
        if (found == folder.holds.end() ||
            (expected && expected != fencing_token(found->second.token)))
            co_return false;
        folder.holds.erase(found);
        folder.save();
        co_return true;
    }
    asio::awaitable<examination> examine() override {
        const locked_folder folder(path_);
        examination report;
        report.guarantees.backend = "folder";
        report.guarantees.holder_crash = "the lock is free after its ttl";
        report.guarantees.token = "never goes back while the file is kept";
        co_return report;
    }
    asio::awaitable<void> close(time_point give_up_at) override {
        while (is_closed_.use_count() > 1 && context_.time->now() < give_up_at)
            co_await pause(context_, 5ms);
        *is_closed_ = true;
    }
    pawl::spi::capabilities capabilities() const noexcept override {
        pawl::spi::capabilities supported;
        supported.tokens_survive_data_loss = supported.hands_over = supported.names_holders = false;
        supported.order = fairness::none;
        return supported;
    }

private:
    time_point begin_request() const {
        ++context_.counts->requests;
        return context_.time->now();
    }
    static release_result release_at(const fs::path& path, const claim& released) {
        locked_folder folder(path);
        if (!folder.holds.contains(released.name)) return release_result::expired;
        if (folder.find(released) == nullptr) return release_result::taken_over;
        folder.holds.erase(released.name);
        folder.save();
        return release_result::released;
    }
    // Until the folder is back, or the hold has expired. It may outlive the backend.
    static asio::awaitable<void> release_later(fs::path path, backend_context context,
                                               claim released, std::shared_ptr<bool> is_closed) {
        const auto ends_at = context.time->now() + released.ttl;
        auto length = 50ms;
        while (!*is_closed && context.time->now() < ends_at) {
            co_await pause(context, length);
            length = std::min(2 * length, 2000ms);
            try {
                (void)release_at(path, released);
                co_return;
            } catch (const error&) {}
        }
    }
    static asio::awaitable<void> pause(const backend_context& context, duration length) {
        const auto timer = context.time->make_timer(context.strand);
        const auto begin = [&timer, when = context.time->now() + length](auto handler) {
            timer->async_wait_until(when, std::move(handler));
        };
        co_await asio::async_initiate<const asio::use_awaitable_t<>,
                                      void(boost::system::error_code)>(begin, asio::use_awaitable);
    }
    static lock_info info_of(const locked_folder& folder, const std::string& name) {
        lock_info info{.name = name};
        const auto held = folder.holds.find(name);
        if (held == folder.holds.end()) return info;
        info.held_by.emplace().remaining = duration(held->second.expires - folder.now);
        info.held_by->token = fencing_token(held->second.token);
        info.held_by->owner = held->second.owner.substr(0, 8);
        return info;
    }

    const fs::path path_;
    const backend_context context_;
    const std::shared_ptr<bool> is_closed_ = std::make_shared<bool>(false);  // shared with undos
};

struct folder_definition final : service::definition {
    explicit folder_definition(fs::path folder) : path(std::move(folder)) {}
    std::unique_ptr<backend> open(backend_context context) const override {
        return std::make_unique<folder_locks>(path, std::move(context));
    }
    std::string describe() const override { return "folder:" + path.string(); }
    const fs::path path;
};

}  // namespace

pawl::service from_folder_url(std::string_view url) {
    return service(std::make_shared<folder_definition>(url.substr(url.find(':') + 1)));
}
