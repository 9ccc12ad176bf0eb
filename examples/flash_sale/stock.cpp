// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "stock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

namespace flash_sale {

namespace {

class open_file {
public:
    open_file(const std::filesystem::path& path, int flags)
        : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0644)) {
        if (fd_ < 0) {
            throw std::system_error(errno, std::generic_category(), path.string());
        }
    }
    ~open_file() { ::close(fd_); }
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;
    [[nodiscard]] int get() const noexcept { return fd_; }

private:
    int fd_;
};

pawl::time_point time_from_ns(long long ns) { return pawl::time_point(pawl::duration(ns)); }

}  // namespace

shelf::shelf(const std::filesystem::path& folder, int number)
    : path_(folder / ("shelf-" + std::to_string(number))) {}

int shelf::read() const {
    const open_file file(path_, O_RDONLY);
    std::array<char, 16> text{};
    if (::pread(file.get(), text.data(), text.size() - 1, 0) <= 0) {
        throw std::system_error(errno, std::generic_category(), path_.string());
    }
    return std::atoi(text.data());
}

// Always ten bytes, so that a reader sees either the old or the new number.
void shelf::write(int items) const {
    const open_file file(path_, O_WRONLY | O_CREAT);
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "%9d\n", items);
    if (::pwrite(file.get(), text.data(), 10, 0) != 10) {
        throw std::system_error(errno, std::generic_category(), path_.string());
    }
}

void append(const std::filesystem::path& folder, const sale& record) {
    const open_file file(folder / "ledger", O_WRONLY | O_CREAT | O_APPEND);
    const std::string line = std::to_string(record.buyer) + ' ' + std::to_string(record.shelf) +
                             ' ' + to_string(record.token) + ' ' +
                             std::to_string(record.began.time_since_epoch().count()) + ' ' +
                             std::to_string(record.ended.time_since_epoch().count()) + '\n';
    if (::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        throw std::system_error(errno, std::generic_category(), "the ledger");
    }
}

std::vector<sale> read_ledger(const std::filesystem::path& folder) {
    std::vector<sale> sales;
    std::ifstream file(folder / "ledger");
    int buyer = 0;
    int number = 0;
    std::uint64_t token = 0;
    long long began = 0;
    long long ended = 0;
    while (file >> buyer >> number >> token >> began >> ended) {
        sales.push_back(
            {buyer, number, pawl::fencing_token(token), time_from_ns(began), time_from_ns(ended)});
    }
    return sales;
}

namespace {

// Of each two successive sales of one shelf.
template <class F>
int count_successions(std::vector<sale> sales, F is_counted) {
    std::sort(sales.begin(), sales.end(), [](const sale& a, const sale& b) {
        return std::tie(a.shelf, a.began) < std::tie(b.shelf, b.began);
    });
    int count = 0;
    for (std::size_t i = 1; i < sales.size(); ++i)
        if (sales[i].shelf == sales[i - 1].shelf && is_counted(sales[i - 1], sales[i])) ++count;
    return count;
}

}  // namespace

int count_overlaps(std::vector<sale> sales) {
    return count_successions(std::move(sales), [](const sale& earlier, const sale& later) {
        return later.began < earlier.ended;
    });
}

int count_late_tokens(std::vector<sale> sales) {
    return count_successions(std::move(sales), [](const sale& earlier, const sale& later) {
        return later.token.value() <= earlier.token.value();
    });
}

}  // namespace flash_sale
