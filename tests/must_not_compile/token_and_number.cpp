// error: no match for|invalid operands
#include <pawl/types.hpp>

bool newer(pawl::fencing_token mine, std::uint64_t theirs) {
#ifdef MISUSE
    return mine > theirs;
#else
    return mine > pawl::fencing_token(theirs);
#endif
}
