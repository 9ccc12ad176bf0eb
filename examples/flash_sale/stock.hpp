// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The goods of the flash sale, a number in an unprotected file, and the ledger of sales.
#pragma once

#include <pawl/types.hpp>

#include <filesystem>
#include <vector>

namespace flash_sale {

// One shelf. Reading and writing are two steps: a write of another process in between is lost.
class shelf {
public:
    shelf(const std::filesystem::path& folder, int number);
    [[nodiscard]] int read() const;
    void write(int items) const;

private:
    std::filesystem::path path_;
};

// One line of the ledger.
struct sale {
    int buyer = 0;
    int shelf = 0;
    pawl::fencing_token token;
    pawl::time_point began{};  // when the stock was read
    pawl::time_point ended{};  // when it had been written back
};

// Appends the line in one write, so that lines of several processes do not mix.
void append(const std::filesystem::path& folder, const sale& record);
std::vector<sale> read_ledger(const std::filesystem::path& folder);

// The number of sales that began before the previous sale of the same shelf had ended.
int count_overlaps(std::vector<sale> sales);
// The number of sales whose token is not above the token of the previous sale of the same shelf.
int count_late_tokens(std::vector<sale> sales);

}  // namespace flash_sale
