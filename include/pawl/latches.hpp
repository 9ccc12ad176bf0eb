// Count-down latches, which a backend may offer beside its locks. For whoever writes one.
//
// As in backend.hpp: all calls come from one strand, several may be in flight at once, arguments
// outlive the coroutine.
#pragma once

#include <pawl/asio_settings.hpp>
#include <pawl/latch_options.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string_view>

namespace pawl {

// A latch has no owner and no lease. It counts down to 0, and who waits goes on; then it can be set
// again, which is its next generation. A service that numbers them (promises::barriers) also tells
// a latch at 0 from one that it has forgotten; elsewhere the two are the same.
class latches {
public:
    virtual ~latches() = default;

    // Begins a generation that counts from `count`. False: one is counting already.
    virtual boost::asio::awaitable<bool> try_set(std::string_view name, std::uint32_t count,
                                                 duration ttl) = 0;

    struct step {
        std::uint64_t generation = 0;  // which one it was counted in
        std::uint64_t count = 0;       // what that one has left
    };
    // Takes `steps` off, down to 0 at most; at 0 all who wait are told. Counted once, however often
    // it had to be sent; errc::unreachable where that stays unknown. errc::lost: it is not known.
    virtual boost::asio::awaitable<step> count_down(std::string_view name, std::uint32_t steps) = 0;

    // One of `parties` has come; the first one begins. The last one tells all who wait and begins
    // the next generation in the same step. errc::bad_option: others said another number.
    virtual boost::asio::awaitable<step> arrive(std::string_view name, std::uint32_t parties,
                                                duration ttl) = 0;

    // Until that generation (0: the present one) has come to 0, woken by a push. False: not by
    // `give_up_at`; it looks once when that is not in the future. errc::lost: it is not known, or
    // was forgotten or taken away meanwhile.
    virtual boost::asio::awaitable<bool> wait(std::string_view name, std::uint64_t generation,
                                              time_point give_up_at) = 0;

    virtual boost::asio::awaitable<latch_info> inspect(std::string_view name) = 0;

    // Takes it away, from those who wait too. False: there was none.
    virtual boost::asio::awaitable<bool> reset(std::string_view name) = 0;
};

}  // namespace pawl
