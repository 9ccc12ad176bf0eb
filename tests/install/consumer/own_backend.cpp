// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A program with its own backend needs the core alone.
#include <pawl/blocking.hpp>
#include <pawl/spi/backend.hpp>

#include <iostream>

class nowhere : public pawl::service::definition {
public:
    [[nodiscard]] std::unique_ptr<pawl::spi::backend> open(
        pawl::spi::backend_context) const override {
        return nullptr;
    }
    [[nodiscard]] std::string describe() const override { return "nowhere:"; }
};

int main() {
    const pawl::service here(std::make_shared<nowhere>());
    std::cout << here.describe() << '\n';
    return here.describe() == "nowhere:" && pawl::boot_clock::now() > pawl::time_point() ? 0 : 1;
}
