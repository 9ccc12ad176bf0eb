#include "close_on_fork.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

namespace pawl::core {
namespace {

// Held over the fork, so that the child finds the list whole.
std::mutex mutex;
close_on_fork* first = nullptr;

int unconnected_socket() noexcept {
    return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

}  // namespace

const int close_on_fork::watching_forks =
    ::pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); },
                     [] {
                         replace_all();
                         mutex.unlock();
                     });

close_on_fork::no_fork::no_fork() : lock_(mutex) {}

close_on_fork::~close_on_fork() { forget(no_fork()); }

void close_on_fork::add(int descriptor, const no_fork&) noexcept {
    descriptor_ = descriptor;
    next_ = first;
    if (first != nullptr) first->previous_ = this;
    first = this;
}

void close_on_fork::forget(const no_fork&) noexcept {
    if (descriptor_ < 0) return;
    descriptor_ = -1;
    (previous_ != nullptr ? previous_->next_ : first) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
    next_ = previous_ = nullptr;
}

// In the child: only calls that are safe there. A process that can open nothing more gives the
// first number up before it asks for another one, and gets that.
void close_on_fork::replace_all() noexcept {
    int dead = unconnected_socket();
    bool in_use = false;
    for (const auto* each = first; each != nullptr; each = each->next_) {
        if (dead < 0) {
            ::close(each->descriptor_);
            dead = unconnected_socket();
            in_use = dead == each->descriptor_;
        }
        if (dead >= 0 && dead != each->descriptor_) ::dup3(dead, each->descriptor_, O_CLOEXEC);
    }
    if (dead >= 0 && !in_use) ::close(dead);
}

}  // namespace pawl::core
