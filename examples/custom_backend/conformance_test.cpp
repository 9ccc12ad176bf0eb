// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The tests that every backend must pass, and one of an outage.
#include "folder_locks.hpp"

#include <pawl/blocking.hpp>
#include <pawl/spi/backend.hpp>
#include <pawl/spi/conformance.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class temporary_folders final : public pawl::conformance::fixture {
public:
    ~temporary_folders() override { fs::remove_all(root_); }
    // The service's URL has the path of its folder.
    pawl::conformance::test_service make_test_service() override {
        const auto path = root_ / std::to_string(++count_);
        fs::create_directories(path);
        const auto url = "folder:" + path.string();
        return {.target = from_folder_url(url), .url = url, .restart = {}, .owned = {}};
    }
    const pawl::spi::capabilities& capabilities() const override { return supported_; }
    bool shows_waiters() const override { return false; }

private:
    const fs::path root_ = fs::temp_directory_path() / ("pawl-locks-" + std::to_string(::getpid()));
    const pawl::spi::capabilities supported_ = from_folder_url("folder:").open({})->capabilities();
    int count_ = 0;
};

// The folder is away when the acquire begins, and comes back when the core has said that it waits.
bool acquire_waits_for_the_folder(temporary_folders& folders) {
    const auto env = folders.make_test_service();
    const fs::path path = env.url.substr(env.url.find(':') + 1);
    const fs::path away = path.string() + ".away";
    fs::rename(path, away);
    std::atomic<bool> is_back = false;
    const auto bring_back = [&](std::string_view line) {
        if (line.starts_with("Waiting for the service") && !is_back.exchange(true))
            fs::rename(away, path);
    };
    pawl::blocking::client locks(env.target, {.log = bring_back});
    const auto held = locks.acquire("it", {.ttl = 10s, .wait = 30s});
    return held.owns_lock() && is_back;
}

}  // namespace

int main(int argc, char** argv) {
    // Some tests kill a process: the program then starts itself again as that process.
    const auto status = pawl::conformance::helper_main(argc, argv, from_folder_url);
    if (status) return *status;

    temporary_folders folders;
    const bool waits = acquire_waits_for_the_folder(folders);
    std::cout << (waits ? "passed " : "FAILED ") << "acquire_waits_for_the_folder\n";
    const auto result = pawl::conformance::run_and_print(folders, std::cout);
    return waits ? result : EXIT_FAILURE;
}
