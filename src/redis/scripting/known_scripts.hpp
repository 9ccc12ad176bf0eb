// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// Which scripts the present connection of each link has executed, so that its server knows their
// digests. A request that must not cost a second round trip sends the text of any other script.
#pragma once

#include "../transport/link.hpp"
#include "script.hpp"

#include <boost/container/small_vector.hpp>

#include <algorithm>
#include <cstdint>
#include <map>

namespace pawl::redis {

class known_scripts {
public:
    [[nodiscard]] bool contains(const link& server, const script& code) const {
        const auto known = servers_.find(&server);
        return known != servers_.end() &&
               known->second.connection_number == server.current().connection_number &&
               has(known->second, code);
    }
    // The server has answered a call of this script over its present connection.
    void add(const link& server, const script& code) {
        auto& known = servers_[&server];
        const auto connection_number = server.current().connection_number;
        if (known.connection_number != connection_number) known = {connection_number, {}};
        if (!has(known, code)) known.scripts.push_back(&code);
    }
    // The server does not know its digest, or not any more: somebody has run SCRIPT FLUSH.
    void remove(const link& server, const script& code) {
        auto& scripts = servers_[&server].scripts;
        const auto known = std::ranges::find(scripts, &code);
        if (known != scripts.end()) scripts.erase(known);
    }

private:
    struct server_scripts {
        std::uint64_t connection_number = 0;
        boost::container::small_vector<const script*, 2> scripts{};
    };
    [[nodiscard]] static bool has(const server_scripts& known, const script& code) {
        return std::ranges::find(known.scripts, &code) != known.scripts.end();
    }
    // An entry of about 100 bytes for each link that has taken or renewed a hold. A topology keeps
    // its links for as long as it lives, so the entries are no more than the links, which are much
    // larger.
    std::map<const link*, server_scripts> servers_;
};

}  // namespace pawl::redis
