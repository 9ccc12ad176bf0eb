// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// The certificates and keys for new connections. Files may be replaced while a client runs.
#pragma once

#include <pawl/tls.hpp>

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <string>

namespace pawl::net {

// Used on one strand. All links of a client share one.
class tls_contexts {
public:
    // `option_prefix` precedes the options' names in messages.
    explicit tls_contexts(tls_options tls = {}, std::string option_prefix = {});

    // Reads the files. If one of them cannot be used, for example because it is being written,
    // returns the last context that could be made. Throws errc::bad_option if there is none.
    [[nodiscard]] std::shared_ptr<boost::asio::ssl::context> make();
    // For the log: why the last context is used. Once for each such reason, otherwise empty.
    [[nodiscard]] std::string take_notice();
    [[nodiscard]] const std::string& option_prefix() const noexcept { return option_prefix_; }

private:
    const tls_options tls_;
    const std::string option_prefix_;
    std::shared_ptr<boost::asio::ssl::context> last_;
    std::string failure_;
    std::string notice_;
};

}  // namespace pawl::net
