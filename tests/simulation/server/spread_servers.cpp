// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "spread_servers.hpp"

#include "slots.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace pawl::simulation {
namespace {

class spread_servers final : public redis::topology {
public:
    void add(std::shared_ptr<redis::link> server_link) {
        links_.push_back(server_link.get());
        owned_links_.push_back(std::move(server_link));
    }

    [[nodiscard]] redis::link& link_of(std::string_view key) const noexcept override {
        return *links_[server_of(key, links_.size())];
    }
    [[nodiscard]] std::span<redis::link* const> links() const noexcept override { return links_; }

private:
    std::vector<std::shared_ptr<redis::link>> owned_links_;
    std::vector<redis::link*> links_;
};

}  // namespace

// FNV-1a.
std::size_t server_of(std::string_view key, std::size_t server_count) noexcept {
    std::uint64_t hash = 14695981039346656037U;
    for (const auto each : hash_tag_of(key)) {
        hash ^= static_cast<unsigned char>(each);
        hash *= 1099511628211U;
    }
    return static_cast<std::size_t>((hash >> 32) % server_count);
}

redis::topology_factory spread_servers_factory(std::vector<redis::link_factory> servers) {
    return [servers = std::move(servers)](redis::link::listener& receiver,
                                          const std::string& channel) {
        auto result = std::make_shared<spread_servers>();
        for (const auto& connect : servers)
            result->add(connect(receiver, channel));
        return result;
    };
}

}  // namespace pawl::simulation
