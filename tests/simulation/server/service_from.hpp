// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

// A service from the function that makes the backend of one client.
#pragma once

#include "core/util/spi.hpp"

#include <pawl/service.hpp>

#include <memory>
#include <string>
#include <utility>

namespace pawl::simulation {

// `open` makes a backend from a backend_context. It may outlive the service's first user.
template <class Open>
[[nodiscard]] service service_from(std::string description, Open open) {
    class opened_service final : public service::definition {
    public:
        opened_service(std::string description, Open open)
            : description_(std::move(description)), open_(std::move(open)) {}
        std::unique_ptr<backend> open(backend_context context) const override {
            return open_(std::move(context));
        }
        std::string describe() const override { return description_; }

    private:
        const std::string description_;
        const Open open_;
    };
    return service(std::make_shared<opened_service>(std::move(description), std::move(open)));
}

}  // namespace pawl::simulation
