#include "desk.hpp"
#include "latches.hpp"
#include "place.hpp"

#include "../core/url.hpp"

#include <pawl/sqlite.hpp>

#include <boost/asio/this_coro.hpp>

#include <array>
#include <charconv>
#include <exception>

namespace asio = boost::asio;

namespace pawl::sqlite {
namespace {

std::string octal(mode_t mode) {
    std::array<char, 8> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), mode, 8).ptr;
    return "0" + std::string(text.data(), end);
}

finding judge_rights(const file_rights& found) {
    const auto fact = "file " + octal(found.file) + ", folder " + octal(found.folder);
    if (found.others_may_replace())
        return {finding::grade::warning, "rights", fact,
                "others may put files into the folder; choose a folder that only this user may "
                "write"};
    if (found.others_may_open())
        return {finding::grade::warning, "rights", fact,
                "whoever may read the file can make every lock in it be lost; chmod 600 it and its "
                "-wal and -shm files, or see docs/sqlite.md for a file that a group shares"};
    return {finding::grade::good, "rights", fact, ""};
}

examination judge(const facts& found) {
    using grade = finding::grade;
    examination result;
    auto& all = result.findings;
    const bool volatile_disk = found.file_system == "tmpfs" || found.file_system == "ramfs";
    all.push_back(
        {volatile_disk ? grade::warning : grade::good, "file system", found.file_system,
         volatile_disk ? "tokens start again from the clock after a reboot; use a real disk" : ""});
    all.push_back({found.journal == "wal" ? grade::good : grade::bad, "journal mode", found.journal,
                   found.journal == "wal" ? "" : "another program changed it; delete the file"});
    all.push_back(
        {grade::good, "synchronous", "full for every new token, normal for renewals", ""});
    all.push_back({found.check == "ok" ? grade::good : grade::bad, "integrity", found.check,
                   found.check == "ok" ? "" : "stop all that use the file and delete it"});
    all.push_back(judge_rights(found.rights));
    all.push_back({grade::note, "size", std::to_string(found.bytes / 1024) + " KiB", ""});
    all.push_back({grade::note, "time to write one transaction to the disk",
                   std::to_string(found.commit / std::chrono::microseconds(1)) + " us", ""});
    all.push_back({found.rings ? grade::good : grade::warning, "wake-ups",
                   found.rings ? "pushed over unix sockets" : "found by looking every 1 to 1.5 s",
                   found.rings ? "" : "abstract unix sockets are forbidden here; allow them"});
    all.push_back({grade::note, "SQLite", found.version, ""});
    auto& row = result.guarantees;
    row.backend = "SQLite, file on this host";
    row.holder_crash = "holds, after the ttl";
    row.holder_pause = "holds for holders that stop when told";
    row.server_crash = "holds; a reboot frees every lock";
    row.failover = "does not apply";
    row.partition = "does not apply";
    row.clock_jump = "holds (boot clock)";
    row.token =
        volatile_disk ? "never goes back while the host's clock is right" : "never goes back";
    return result;
}

class sqlite_backend final : public backend {
public:
    sqlite_backend(store::settings what, const backend_context& context)
        : desk_(std::make_shared<desk>(std::move(what), context)), latches_(desk_, context) {}

    // Every coroutine keeps the desk: its frame may be the last thing that is destroyed.
    asio::awaitable<std::optional<grant>> acquire(const claim& what,
                                                  time_point give_up_at) override {
        const auto at = desk_;
        at->refuse_fork();
        const bool throws = co_await asio::this_coro::throw_if_cancelled();
        co_await asio::this_coro::throw_if_cancelled(false);
        std::optional<grant> given;
        std::exception_ptr failed;
        try {
            given = co_await at->acquire(what, give_up_at);
        } catch (...) {
            failed = std::current_exception();
        }
        co_await asio::this_coro::throw_if_cancelled(throws);
        if (failed) std::rethrow_exception(failed);
        co_return given;
    }

    asio::awaitable<void> renew(std::span<renewal> batch) override {
        const auto at = desk_;
        if (at->forked()) co_return;
        try {
            co_await at->run([batch](store& file) { return file.renew(batch), true; });
            co_return;
        } catch (const std::exception&) {
            // Rolled back: whatever was written into the batch meanwhile is void.
        }
        for (auto& line : batch)
            line.result = renewal::outcome::unknown;
    }

    asio::awaitable<release_result> release(const hold& what) override {
        const auto at = desk_;
        if (at->forked()) co_return release_result::unknown;
        co_return co_await at->release(what.claim);
    }

    asio::awaitable<lock_info> inspect(std::string_view name) override {
        const auto at = desk_;
        at->refuse_fork();
        const auto job = [name = std::string(name)](store& file) { return file.inspect(name); };
        co_return co_await at->run(job);
    }

    asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override {
        const auto at = desk_;
        at->refuse_fork();
        const auto job = [prefix = std::string(prefix)](store& file) { return file.list(prefix); };
        co_return co_await at->run(job);
    }

    asio::awaitable<std::optional<grant>> downgrade(const hold& what) override {
        const auto at = desk_;
        at->refuse_fork();
        const auto job = [&what](store& file) { return file.downgrade(what.claim); };
        const auto found = co_await at->run(job);
        if (!found) co_return std::nullopt;
        co_return grant{found->expires - drift(what.claim.ttl),
                        what.claim.fenced ? found->token : fencing_token{},
                        {},
                        false};
    }

    asio::awaitable<void> resize(std::string_view name, std::uint32_t permits) override {
        const auto at = desk_;
        at->refuse_fork();
        const auto job = [name = std::string(name), permits](store& file) {
            return file.resize(name, permits), true;
        };
        co_await at->run(job);
    }

    asio::awaitable<bool> force_release(std::string_view name) override {
        const auto at = desk_;
        at->refuse_fork();
        const auto job = [name = std::string(name)](store& file) {
            return file.force_release(name);
        };
        co_return co_await at->run(job);
    }

    asio::awaitable<examination> examine() override {
        const auto at = desk_;
        at->refuse_fork();
        const auto found = co_await at->run([](store& file) { return file.examine(); });
        co_return judge(found);
    }

    asio::awaitable<void> close(time_point give_up_at) override {
        const auto at = desk_;
        co_await at->close(give_up_at);
    }

    latches* counted() noexcept override { return &latches_; }

    promises promised() const noexcept override {
        promises made;
        made.across_hosts = false;
        made.loss_is_pushed = true;
        made.shared = made.permits = made.strictly_fair = made.downgrades = true;
        made.latches = made.barriers = true;
        return made;
    }

private:
    std::shared_ptr<desk> desk_;
    file_latches latches_;
};

class sqlite_service final : public service::definition {
public:
    explicit sqlite_service(options where) : where_(std::move(where)) {}

    std::unique_ptr<backend> open(backend_context context) const override {
        store::settings what{where_.path, where_.name_space, context.who, context.log,
                             where_.make_folder};
        return std::make_unique<sqlite_backend>(std::move(what), context);
    }
    std::string describe() const override {
        auto text = "sqlite:" + core::encode_path(where_.path);
        if (where_.name_space != options().name_space)
            core::append_option(text, "namespace", where_.name_space);
        return text;
    }

private:
    options where_;
};

}  // namespace

service at(options where) {
    where.path = checked_path(where.path);
    if (where.name_space.empty())
        throw error(errc::bad_option, "The namespace is empty; leave it out, or give it a name.");
    return service(std::make_shared<sqlite_service>(std::move(where)));
}

}  // namespace pawl::sqlite
