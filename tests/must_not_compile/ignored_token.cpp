// error: ignoring return
#include <pawl/blocking.hpp>

pawl::fencing_token read(const pawl::blocking::held_lock& held) {
#ifdef MISUSE
    held.token();
#endif
    return held.token();
}
