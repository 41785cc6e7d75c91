// Uses an installed Farfield: a tensor in, its values out.

#include <cstdio>

#include "engine/tensor.h"

int main() {
  const auto x = farfield::Tensor::from({1, 2, 3, 4}, {2, 2});
  double sum = 0;
  for (const double value : x.to_vector()) sum += value;
  std::printf("consumer: the sum of 1 to 4 is %g\n", sum);
  return sum == 10 ? 0 : 1;
}
