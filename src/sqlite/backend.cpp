// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "backend.hpp"

#include "file_location.hpp"
#include "latches.hpp"
#include "lock_session.hpp"

#include "../core/util/url.hpp"

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

finding judge_rights(const file_rights& rights) {
    const auto fact = "file " + octal(rights.file) + ", folder " + octal(rights.folder);
    if (rights.others_may_replace())
        return {
            finding::grade::warning, "rights", fact,
            "other users may put files into the folder; choose a folder that only this user may "
            "write"};
    if (rights.others_may_open())
        return {
            finding::grade::warning, "rights", fact,
            "a user that may read the file can cause the loss of every lock in it; chmod 600 it "
            "and its -wal and -shm files, or see docs/backends/sqlite.md for a file that a group "
            "shares"};
    return {finding::grade::good, "rights", fact, ""};
}

examination judge_file(const file_report& report) {
    using grade = finding::grade;
    examination result;
    auto& findings = result.findings;
    const bool is_volatile = report.file_system == "tmpfs" || report.file_system == "ramfs";
    findings.push_back(
        {is_volatile ? grade::warning : grade::good, "file system", report.file_system,
         is_volatile ? "tokens start again from the clock after a reboot; use a real disk" : ""});
    findings.push_back(
        {report.journal_mode == "wal" ? grade::good : grade::bad, "journal mode",
         report.journal_mode,
         report.journal_mode == "wal" ? "" : "another program changed it; delete the file"});
    findings.push_back(
        {grade::good, "synchronous", "full for every new token, normal for renewals", ""});
    findings.push_back(
        {report.integrity == "ok" ? grade::good : grade::bad, "integrity", report.integrity,
         report.integrity == "ok" ? "" : "stop all programs that use the file and delete it"});
    findings.push_back(judge_rights(report.rights));
    findings.push_back({grade::note, "size", std::to_string(report.bytes / 1024) + " KiB", ""});
    findings.push_back({grade::note, "time to write one transaction to the disk",
                        std::to_string(report.commit_time / std::chrono::microseconds(1)) + " µs",
                        ""});
    findings.push_back(
        {report.can_notify ? grade::good : grade::warning, "wake-ups",
         report.can_notify ? "pushed over unix sockets" : "found by a check every 1 to 1.5 s",
         report.can_notify ? "" : "abstract unix sockets are forbidden here; allow them"});
    findings.push_back({grade::note, "SQLite", report.sqlite_version, ""});
    auto& guarantees = result.guarantees;
    guarantees.backend = "SQLite, file on this host";
    guarantees.holder_crash = "holds, after the ttl";
    guarantees.holder_pause = "holds for holders that stop when told";
    guarantees.server_crash =
        "holds; a reboot with a new boot id frees every lock, at the latest after its ttl";
    guarantees.failover = "does not apply";
    guarantees.partition = "does not apply";
    guarantees.clock_jump = "holds (boot clock)";
    guarantees.token =
        is_volatile ? "never goes back while the host's clock is right" : "never goes back";
    return result;
}

class sqlite_backend final : public backend {
public:
    sqlite_backend(store::settings file_settings, const backend_context& context,
                   const worker_factory& make_worker)
        : session_(std::make_shared<lock_session>(std::move(file_settings), context, make_worker)),
          latches_(session_, context) {}

    // Every coroutine keeps the session: its frame may be the last object that is destroyed.
    asio::awaitable<std::optional<grant>> acquire(const claim& requested,
                                                  time_point give_up_at) override {
        const auto session = session_;
        session->throw_if_forked();
        const bool throws = co_await asio::this_coro::throw_if_cancelled();
        co_await asio::this_coro::throw_if_cancelled(false);
        std::optional<grant> granted;
        std::exception_ptr failure;
        try {
            granted = co_await session->acquire(requested, give_up_at);
        } catch (...) {
            failure = std::current_exception();
        }
        co_await asio::this_coro::throw_if_cancelled(throws);
        if (failure) std::rethrow_exception(failure);
        co_return granted;
    }

    asio::awaitable<void> renew(renewal_batch& batch) override {
        const auto session = session_;
        if (session->is_forked()) co_return;
        const auto requested = batch.renewals();
        std::vector<renewal> renewals(requested.begin(), requested.end());
        try {
            const auto job = [renewals](store& file) mutable {
                file.renew(renewals);
                return std::move(renewals);
            };
            renewals = co_await session->run(job);
        } catch (const std::exception&) {
            co_return;  // the transaction was rolled back: its results are void
        }
        for (std::size_t i = 0; i < renewals.size(); ++i)
            batch.settle(i, renewals[i].result, renewals[i].deadline);
    }

    asio::awaitable<release_result> release(const hold& requested) override {
        const auto session = session_;
        if (session->is_forked()) co_return release_result::unknown;
        co_return co_await session->release(requested.claim);
    }

    asio::awaitable<lock_info> inspect(std::string_view name) override {
        return run([name = std::string(name)](store& file) { return file.inspect(name); });
    }

    asio::awaitable<std::vector<lock_info>> list(std::string_view prefix) override {
        return run([prefix = std::string(prefix)](store& file) { return file.list(prefix); });
    }

    asio::awaitable<std::optional<grant>> downgrade(const hold& requested) override {
        const auto& held = requested.claim;
        const auto result = co_await run([&held](store& file) { return file.downgrade(held); });
        if (!result) co_return std::nullopt;
        co_return grant{result->expires - drift(held.ttl), result->token, {}, false};
    }

    asio::awaitable<void> resize(std::string_view name, std::uint32_t permits) override {
        const auto job = [name = std::string(name), permits](store& file) {
            return file.resize(name, permits), true;
        };
        co_await run(job);
    }

    asio::awaitable<bool> force_release(std::string_view name, fencing_token expected) override {
        return run([name = std::string(name), expected](store& file) {
            return file.force_release(name, expected);
        });
    }

    asio::awaitable<examination> examine() override {
        const auto report = co_await run([](store& file) { return file.examine(); });
        co_return judge_file(report);
    }

    asio::awaitable<void> close(time_point give_up_at) override {
        const auto session = session_;
        co_await session->close(give_up_at);
    }

    spi::latches* latches() noexcept override { return &latches_; }

    bool resumes_on_strand() const noexcept override { return true; }
    spi::capabilities capabilities() const noexcept override {
        spi::capabilities supported;
        supported.across_hosts = false;
        supported.loss_is_pushed = true;
        supported.shared = supported.permits = supported.strictly_fair = supported.downgrades =
            true;
        supported.latches = supported.barriers = true;
        return supported;
    }

private:
    template <class Job>
    auto run(Job job) -> asio::awaitable<std::invoke_result_t<Job&, store&>> {
        const auto session = session_;
        session->throw_if_forked();
        co_return co_await session->run_last(std::move(job));
    }

    std::shared_ptr<lock_session> session_;
    file_latches latches_;
};

class sqlite_service final : public service::definition {
public:
    explicit sqlite_service(options file_options) : options_(std::move(file_options)) {}

    std::unique_ptr<backend> open(backend_context context) const override {
        store::settings file_settings{options_.path, options_.name_space, context.process,
                                      context.log, options_.make_folder};
        return make_backend(std::move(file_settings), context);
    }
    std::string describe() const override {
        auto text = "sqlite:" + core::encode_path(options_.path);
        if (options_.name_space != options().name_space)
            core::append_option(text, "namespace", options_.name_space);
        return text;
    }

private:
    options options_;
};

}  // namespace

std::unique_ptr<backend> make_backend(store::settings file_settings, const backend_context& context,
                                      const worker_factory& make_worker) {
    return std::make_unique<sqlite_backend>(std::move(file_settings), context, make_worker);
}

service at(options file_options) {
    file_options.path = checked_path(file_options.path);
    if (file_options.name_space.empty())
        throw error(errc::bad_option, "The namespace is empty; omit it, or give it a name.");
    return service(std::make_shared<sqlite_service>(std::move(file_options)));
}

}  // namespace pawl::sqlite
