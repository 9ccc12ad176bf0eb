// SPDX-License-Identifier: BSL-1.0
// Copyright (c) 2026 The Pawl authors

#include "shops.hpp"

#include <orders/flash_sale.hpp>
#include <orders/layers.hpp>
#include <orders/order_creation.hpp>
#include <orders/outside_client.hpp>
#include <orders/payment_verification.hpp>

#include <support/sql_client.hpp>

#include <pawl/blocking.hpp>
#include <pawl/guard/postgres.hpp>
#include <pawl/guard/reconciliation.hpp>
#include <pawl/guard/records.hpp>
#include <pawl/striped.hpp>

namespace real::orders {

namespace {

namespace guard = pawl::guard;
using namespace std::chrono_literals;

constexpr guard::reconcile_options pass{.batch = 50, .per_second = 1000};

// Killed workers count as attempts, so there is no small number of them.
guard::once_options once_options_of(const shop::layer_set& layers) {
    return {.lease = lease,
            .wait = 5s,
            .keep = 1h,
            .attempts = 1'000'000,
            .with = shop::once_layers(layers)};
}

shop_answer answer_of(const guard::once_result& result) {
    return {.state = guard::to_string(result.state), .value = result.value};
}

// The services, and the views in front of them: the shop's code calls the injected ones.
struct services {
    services(const worker_options& options, fault_injector& faults)
        : layers(shop::all_without(options.without)),
          session(options.database),
          locks(pawl::from_url(shop::lock_url(layers, options.locks))),
          outside({.port = options.outside}),
          channel({.port = options.outside}, "channel"),
          platform({.port = options.outside}, "platform"),
          marking(outside, std::to_string(options.number)),
          db(layered_db, faults),
          partner(layered_outside, marking, faults) {}

    shop::layer_set layers;
    support::sql_client session;
    pawl::blocking::client locks;
    guard::postgres_connection postgres{session.handle()};
    shop::layered_connection layered_db{postgres, layers};
    shop::outside_partner outside;
    shop::outside_source channel, platform;
    marking_partner marking;
    shop::layered_partner layered_outside{marking, layers};
    injected_connection db;
    injected_partner partner;
};

// Calls again what was begun and not ended. A key is the kind of the operation and the order.
template <class Again>
void repair_unfinished(services& to, const Again& again) {
    guard::reconciliation nightly(to.locks, to.db, "unfinished/nightly", pass);
    const auto find = [&](const std::string& after, std::uint32_t limit) {
        std::vector<std::string> keys;
        for (const auto& each : guard::unfinished(to.db, {}, {.scope = {}, .key = after}, limit))
            keys.push_back(each.key);
        return keys;
    };
    const auto mend = [&](const std::string& key, pawl::fencing_token) {
        const auto slash = key.find('/');
        return again(key.substr(0, slash), key.substr(slash + 1)) ? guard::repair_result::repaired
                                                                  : guard::repair_result::failed;
    };
    (void)nightly.run(find, mend);
}

class service_shop : public worker_shop {
public:
    service_shop(const worker_options& options, fault_injector& faults) : to(options, faults) {}
    [[nodiscard]] vain_work take_vain_work() noexcept override { return to.db.take_vain_work(); }

protected:
    services to;
};

class verification_shop final : public service_shop {
public:
    using service_shop::service_shop;

    shop_answer call(const std::string& order) override {
        return answer_of(program_.verify(order));
    }

    void repair() override {
        repair_unfinished(to, [&](const std::string&, const std::string& order) {
            return program_.verify(order);
        });
    }

private:
    shop::payment_verification program_{.locks = to.locks,
                                        .db = to.db,
                                        .channel = to.channel,
                                        .platform = to.platform,
                                        .crm = to.partner,
                                        .options = once_options_of(to.layers),
                                        .pause = 50ms};
};

class sale_shop final : public service_shop {
public:
    sale_shop(const worker_options& options, fault_injector& faults)
        : service_shop(options, faults),
          program_{.locks = to.locks,
                   .db = to.db,
                   .stripes = pawl::striped("sale", options.stripes),
                   .options = {.ttl = lease, .wait = 5s}} {}

    shop_answer call(const std::string& order) override {
        return {.state = program_.buy(order) ? "done" : "sold-out", .value = {}};
    }
    void repair() override {}  // nothing is ever half done

private:
    shop::flash_sale program_;
};

class creation_shop final : public service_shop {
public:
    using service_shop::service_shop;

    shop_answer call(const std::string& order) override {
        return answer_of(program_.create(order, request));
    }
    // The program's own pass finds the orders that are not paid.
    void repair() override {
        repair_unfinished(to, [&](const std::string& kind, const std::string& order) {
            return kind == "order" ? program_.create(order, request) : program_.charge(order);
        });
        (void)program_.repair(pass);
    }

private:
    static constexpr const char* request = "an order";
    shop::order_creation program_{.locks = to.locks,
                                  .db = to.db,
                                  .bank = to.partner,
                                  .options = once_options_of(to.layers),
                                  .pause = 50ms};
};

}  // namespace

std::unique_ptr<worker_shop> make_shop(const worker_options& options, fault_injector& faults) {
    switch (options.story) {
    case story::verification: return std::make_unique<verification_shop>(options, faults);
    case story::sale: return std::make_unique<sale_shop>(options, faults);
    case story::creation: break;
    }
    return std::make_unique<creation_shop>(options, faults);
}

}  // namespace real::orders
