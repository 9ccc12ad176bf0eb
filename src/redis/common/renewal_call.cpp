// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "renewal_call.hpp"

#include "../scripting/reply_reader.hpp"

namespace pawl::redis {

renewal_call::renewal_call(const script& code, std::size_t count) : code_(code) {
    ttls_.reserve(count);
}

void renewal_call::add_hold(std::initializer_list<std::string_view> keys,
                            std::initializer_list<std::string_view> arguments) {
    keys_.insert(keys_.end(), keys);
    arguments_.insert(arguments_.end(), arguments);
    ++size_;
}

std::vector<renewal::outcome> renewal_call::read(const reply& from) const {
    const reply_reader reader(code_, from, keys_.empty() ? std::string_view("Renewals") : keys_[0]);
    reader.expect_size(size_);
    std::vector<renewal::outcome> outcomes;
    outcomes.reserve(size_);
    for (std::size_t i = 0; i < size_; ++i) {
        switch (reader.at(i).integer(-2, 1)) {
        case 1: outcomes.push_back(renewal::outcome::extended); break;
        case 0: outcomes.push_back(renewal::outcome::refused); break;
        case -2: outcomes.push_back(renewal::outcome::missing); break;
        default: outcomes.push_back(renewal::outcome::unknown);
        }
    }
    return outcomes;
}

}  // namespace pawl::redis
