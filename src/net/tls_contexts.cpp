// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "tls_contexts.hpp"

#include "tls.hpp"

#include <utility>

namespace pawl::net {

tls_contexts::tls_contexts(tls_options tls, std::string option_prefix)
    : tls_(std::move(tls)), option_prefix_(std::move(option_prefix)) {}

std::shared_ptr<boost::asio::ssl::context> tls_contexts::make() {
    try {
        last_ = std::make_shared<boost::asio::ssl::context>(make_tls_context(tls_, option_prefix_));
        failure_.clear();
    } catch (const error& e) {
        if (!last_) throw;
        if (failure_ != e.what())
            notice_ = std::string(e.what()) + " The files that were read before are still used.";
        failure_ = e.what();
    }
    return last_;
}

std::string tls_contexts::take_notice() { return std::exchange(notice_, {}); }

}  // namespace pawl::net
