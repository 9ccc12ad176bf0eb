// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "shop.hpp"

#include "stock.hpp"

#include <pawl/blocking.hpp>

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <thread>

namespace flash_sale {

namespace {

using namespace std::chrono_literals;

struct purchase {
    bool sold = false;
    pawl::duration waited{};
};

// Reads, thinks, writes back. Nothing in this function excludes another buyer.
bool try_buy_item(const shop_options& options, int number, int buyer, pawl::fencing_token token,
                  const std::stop_token& lost) {
    const shelf goods(options.folder, number);
    const auto began = pawl::boot_clock::now();
    const int items = goods.read();
    if (items == 0) {
        return false;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(options.think_us));
    if (lost.stop_requested()) {
        throw std::runtime_error("the lock of shelf " + std::to_string(number) + " was lost");
    }
    goods.write(items - 1);
    append(options.folder, {buyer, number, token, began, pawl::boot_clock::now()});
    return true;
}

purchase buy(const shop_options& options, pawl::blocking::client* locks, int buyer) {
    purchase result;
    const pawl::striped stripes("stock", static_cast<std::size_t>(options.shelves));
    const auto start = stripes.index_of("buyer " + std::to_string(buyer));
    for (std::size_t i = 0; i < stripes.size() && !result.sold; ++i) {
        const auto index = (start + i) % stripes.size();
        const int number = static_cast<int>(index);
        if (locks == nullptr) {
            result.sold = try_buy_item(options, number, buyer, {}, {});
            continue;
        }
        // A read without the lock is only a hint, but an empty shelf stays empty.
        if (shelf(options.folder, number).read() == 0) {
            continue;
        }
        const auto wait_began = pawl::boot_clock::now();
        const auto lock = locks->acquire(stripes.name_of(index), {.ttl = 30s, .wait = 1min});
        result.waited += pawl::boot_clock::now() - wait_began;
        result.sold = try_buy_item(options, number, buyer, lock.token(), lock.lost());
    }
    return result;
}

void write_line(const std::string& line) {
    if (::write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        throw std::runtime_error("the output of this shop was closed");
    }
}

void run_buyer(const shop_options& options, pawl::blocking::client* locks, int buyer) {
    try {
        const purchase result = buy(options, locks, buyer);
        const auto us =
            std::chrono::duration_cast<std::chrono::microseconds>(result.waited).count();
        write_line("done " + std::to_string(us) + "\n");
    } catch (const std::exception& e) {
        write_line("failed buyer " + std::to_string(buyer) + ": " + e.what() + "\n");
    }
}

}  // namespace

std::vector<std::string> shop_options::to_arguments() const {
    return {"shop",
            folder,
            url,
            std::to_string(shelves),
            std::to_string(first_buyer),
            std::to_string(buyers),
            std::to_string(think_us)};
}

shop_options shop_options::from_arguments(int argc, char** argv) {
    if (argc != 7) {
        throw std::runtime_error("only flash_sale starts a shop");
    }
    return {argv[1],           argv[2], std::stoi(argv[3]), std::stoi(argv[4]), std::stoi(argv[5]),
            std::stoi(argv[6])};
}

int run_shop(const shop_options& options) {
    std::optional<pawl::blocking::client> locks;
    if (!options.url.empty()) {
        locks.emplace(pawl::from_url(options.url));
        // Connects now, so that the sale measures buying and not connecting.
        const auto warm = locks->try_acquire("shop/" + std::to_string(::getpid()));
    }
    write_line("ready\n");
    std::string go;
    if (!std::getline(std::cin, go)) {
        return 1;
    }
    std::vector<std::thread> buyers;
    for (int i = 0; i < options.buyers; ++i) {
        buyers.emplace_back(run_buyer, options, locks ? &*locks : nullptr, options.first_buyer + i);
    }
    for (auto& each : buyers) {
        each.join();
    }
    return 0;
}

}  // namespace flash_sale
