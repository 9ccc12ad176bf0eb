// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include <pawl/with_diagnostics.hpp>

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

namespace pawl::detail {

std::exception_ptr to_exception(const boost::system::error_code& code,
                                const diagnostics& diag) noexcept {
    try {
        const std::error_code plain = code;
        const std::string message = diag.message().empty() ? plain.message() : diag.message();
        if (plain.category() == error_category())
            return std::make_exception_ptr(error(static_cast<errc>(plain.value()), message));
        if (code == boost::asio::error::operation_aborted)
            return std::make_exception_ptr(error(errc::cancelled, message));
        return std::make_exception_ptr(boost::system::system_error(code, diag.message()));
    } catch (...) {
        return std::current_exception();
    }
}

}  // namespace pawl::detail
