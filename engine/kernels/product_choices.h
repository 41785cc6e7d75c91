#pragma once

#include "engine/base/error.h"
#include "engine/product_choices.h"

namespace farfield {

// By tag, for dispatch().
ProductChoices tune_products(Cuda device, const std::function<void()>& work);
void use_product_choices(Cuda device, const ProductChoices& choices);

[[noreturn]] inline void refuse_product_choices() {
  fail<ConfigError>("products", "expected a CUDA device; on the cpu the library chooses by itself");
}
inline ProductChoices tune_products(Cpu, const std::function<void()>&) { refuse_product_choices(); }
inline void use_product_choices(Cpu, const ProductChoices&) { refuse_product_choices(); }

}  // namespace farfield
