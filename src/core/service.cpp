#include <pawl/service.hpp>

#include <pawl/backend.hpp>

namespace pawl {

std::unique_ptr<backend> service::open(backend_context context) const {
    return what_->open(std::move(context));
}

}  // namespace pawl
