// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "locks.hpp"
#include "options.hpp"

#include <pawl/etcd.hpp>

#include <utility>

namespace pawl::etcd {
namespace {

class definition final : public service::definition {
public:
    explicit definition(options settings) : options_(std::move(settings)) {}

    std::unique_ptr<backend> open(backend_context context) const override {
        return make_backend(options_, context);
    }
    std::string describe() const override { return etcd::describe(options_); }

private:
    const options options_;
};

}  // namespace

service at(options settings) {
    check_options(settings);
    return service(std::make_shared<definition>(std::move(settings)));
}

}  // namespace pawl::etcd
