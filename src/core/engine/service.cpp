// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "../util/spi.hpp"

#include <pawl/service.hpp>

namespace pawl {

std::unique_ptr<backend> service::open(backend_context context) const {
    return definition_->open(std::move(context));
}

}  // namespace pawl
