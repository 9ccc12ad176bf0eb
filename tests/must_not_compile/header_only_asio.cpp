// error: Asio has other settings than in Pawl
#ifdef MISUSE
#undef BOOST_ASIO_SEPARATE_COMPILATION
#endif
#include <pawl/backend.hpp>
