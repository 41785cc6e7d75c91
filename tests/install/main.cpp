// Uses an installed Farfield: the table of an encoding, through the public headers.

#include <cmath>
#include <cstdio>

#include "engine/ops.h"
#include "posenc/composition.h"

int main() {
  const farfield::posenc::Config config = {
      .n_head = 4, .head_dim = 16, .d_model = 64, .n_layer = 2, .train_len = 128};
  const farfield::posenc::Composition encoding("alibi + window(4)", config);
  const auto plan = encoding.plan(8, 8, farfield::posenc::Phase::eval);
  const farfield::posenc::ScoreRule& rule = plan.layers[0].rule;
  // Head 1 of 4 falls by 1/4 per token: 0, -1/4, -1/2, ...
  const double at_two = farfield::slice(rule.bias, 1, 2, 3).to_vector()[0];
  std::printf("consumer: %s, window %d, head 1 at distance 2: %g\n", encoding.canonical().c_str(),
              static_cast<int>(rule.window), at_two);
  return at_two == -0.5 && rule.window == 4 ? 0 : 1;
}
