// One client's side of latches: who of ours waits.
#pragma once

#include "desk.hpp"
#include "latch_book.hpp"

#include <map>
#include <memory>
#include <string>

namespace pawl::sqlite {

// Used on the client's strand.
class file_latches final : public latches {
public:
    file_latches(std::shared_ptr<desk> at, const backend_context& context);

    boost::asio::awaitable<bool> try_set(std::string_view name, std::uint32_t count,
                                         duration ttl) override;
    boost::asio::awaitable<step> count_down(std::string_view name, std::uint32_t steps) override;
    boost::asio::awaitable<step> arrive(std::string_view name, std::uint32_t parties,
                                        duration ttl) override;
    boost::asio::awaitable<bool> wait(std::string_view name, std::uint64_t generation,
                                      time_point give_up_at) override;
    boost::asio::awaitable<latch_info> inspect(std::string_view name) override;
    boost::asio::awaitable<bool> reset(std::string_view name) override;

private:
    struct waiting {
        core::alarm alarm;
        std::optional<core::latch_standing> rung;
    };
    using table = std::multimap<std::string, waiting*, std::less<>>;
    class place;

    static boost::asio::awaitable<std::optional<core::latch_standing>> look(
        const std::shared_ptr<desk>& at, const latch_place& where);
    static boost::asio::awaitable<void> leave(std::shared_ptr<desk> at, latch_place where);
    boost::asio::awaitable<step> send_step(std::string_view name, std::uint32_t steps,
                                           std::uint32_t parties, duration ttl);

    const std::shared_ptr<desk> desk_;
    const boost::asio::any_io_executor strand_;
    runtime& time_;
    const std::shared_ptr<table> waiting_ = std::make_shared<table>();
};

}  // namespace pawl::sqlite
