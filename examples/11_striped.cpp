// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A stock in four parts: buyers of different parts do not wait for each other. Usage: 11_striped
// [URL]
#include <pawl/blocking.hpp>

#include <array>
#include <iostream>
#include <thread>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
    pawl::blocking::client locks(pawl::from_url(argc > 1 ? argv[1] : "memory:"));
    const pawl::striped stripes("books", 4);
    std::array<int, 4> books{5, 5, 5, 5};
    std::array<int, 24> bought{};
    {
        std::array<std::jthread, 4> shops;
        for (std::size_t shop = 0; shop < shops.size(); ++shop) {
            shops[shop] = std::jthread([&, shop] {
                for (std::size_t i = shop * 6; i < shop * 6 + 6; ++i) {
                    // Begins at the buyer's own stripe, and continues while the stripes are empty.
                    bought[i] =
                        with_any_stripe(locks, stripes, "buyer " + std::to_string(i),
                                        {.ttl = 10s, .wait = 1min}, [&](auto&, std::size_t stripe) {
                                            return books[stripe] > 0 && books[stripe]-- > 0;
                                        });
                }
            });
        }
    }
    int sold = 0;
    for (const int each : bought) {
        sold += each;
    }
    const std::array<std::string, 3> keys{"anna", "bert", "carl"};
    const auto audit = locks.acquire_all(stripes.names_for(keys), {.ttl = 10s, .wait = 1min});
    std::cout << sold << " sold, " << audit.size() << " stripes for three customers\n";
    return sold == 20 ? 0 : 1;
}
