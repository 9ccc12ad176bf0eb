// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "service.hpp"

#include "core/engine/validate.hpp"
#include "core/lease/loss_reasons.hpp"

#include <pawl/testing.hpp>

namespace pawl::testing {

class faulty_service::definition final : public pawl::service::definition {
public:
    std::unique_ptr<backend> open(backend_context context) const override {
        return service_.open(std::move(context));
    }
    std::string describe() const override { return service_.describe(); }
    [[nodiscard]] memory::request_gate& gate() const noexcept { return *gate_; }
    [[nodiscard]] memory::lock_store& locks() const noexcept { return service_.locks(); }

private:
    const std::shared_ptr<memory::request_gate> gate_ = std::make_shared<memory::request_gate>();
    const memory::memory_service service_{"", gate_};
};

faulty_service::faulty_service() : definition_(std::make_shared<const definition>()) {}
service faulty_service::service() const { return pawl::service(definition_); }
void faulty_service::fail(errc reason) { definition_->gate().fail(reason); }
void faulty_service::delay(duration by) { definition_->gate().delay(by); }
void faulty_service::recover() { definition_->gate().recover(); }

bool faulty_service::end_hold(std::string_view name, loss_reason reason) {
    core::check_name(name);
    if (!core::is_ended_by_service(reason) && reason != loss_reason::forced)
        throw error(errc::bad_option,
                    "A service cannot end a hold for this reason; use missing, taken_over, "
                    "failed_over or forced, and let time pass for the others.");
    return definition_->locks().end_holds(name, reason);
}

void faulty_service::fail_over() { definition_->locks().end_all_holds(loss_reason::failed_over); }

}  // namespace pawl::testing
