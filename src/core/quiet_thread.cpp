#include "quiet_thread.hpp"

#include "exhausted.hpp"

#include <pthread.h>
#include <signal.h>

#include <system_error>

namespace pawl::core {
namespace {

// The program's signals are for the program's threads.
class signals_blocked {
public:
    signals_blocked() noexcept {
        sigset_t all{};
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    signals_blocked(const signals_blocked&) = delete;
    signals_blocked& operator=(const signals_blocked&) = delete;

private:
    sigset_t before_{};
};

}  // namespace

std::thread start_thread(const char* purpose, std::function<void()> work) {
    const signals_blocked meanwhile;
    try {
        return std::thread(std::move(work));
    } catch (const std::system_error& failed) {
        throw exhausted(std::string("No thread can be started for ") + purpose, failed.what());
    }
}

}  // namespace pawl::core
