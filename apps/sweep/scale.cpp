#include "apps/sweep/scale.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "engine/base/did_you_mean.h"
#include "engine/base/error.h"
#include "engine/base/text.h"
#include "layers/config.h"

namespace farfield::sweep {
namespace {

constexpr double kPaperUnit = 512;
constexpr int64_t kBriefShare = 10;  // published steps for one step of `brief`

struct Named {
  Scale scale;
  const char* word;
  Profile profile;
};
const std::vector<Named>& scales() {
  static const std::vector<Named> all = {
      {Scale::smoke,
       "smoke",
       {.unit = 32,
        .segments = 64,
        .long_segments = 64,
        .max_tokens = 16'384,
        .sequences = 16,
        .gradient_segments = 8,
        .cached_segments = 8,
        .timed_steps = 20,
        .seeds = 1}},
      {Scale::tiny,
       "tiny",
       {.unit = 64,
        .segments = 512,
        .long_segments = 2000,
        .max_tokens = 200'000,
        .sequences = 64,
        .gradient_segments = 32,
        .cached_segments = 64,
        .timed_steps = 100,
        .seeds = 1}},
      {Scale::small,
       "small",
       {.unit = 256,
        .segments = 1000,
        .long_segments = 2000,
        .max_tokens = 1'000'000,
        .sequences = 256,
        .gradient_segments = 100,
        .cached_segments = 256,
        .seeds = 1}},
      {Scale::brief,
       "brief",
       {.segments = 250,
        .max_tokens = 1'000'000,
        .sequences = 64,
        .chunks = 64,
        .gradient_segments = 20,
        .cached_segments = 100,
        .seeds = 1}},
      {Scale::paper, "paper", {}},
  };
  return all;
}

// A model of tasks and its training.
struct TaskModel {
  const char* preset;
  int64_t n_layer, n_head, d_model, batch, steps;
  double lr;
};
TaskModel task_model(Scale scale, Size size) {
  TaskModel of = scale == Scale::smoke  ? TaskModel{"smoke", 2, 4, 32, 32, 200, 3e-3}
                 : scale == Scale::tiny ? TaskModel{"tiny", 2, 4, 64, 32, 3000, 2e-3}
                                        : TaskModel{"small", 6, 8, 512, 16, 10'000, 3e-4};
  if (size == Size::algorithmic && scale == Scale::tiny) {
    of.batch = 16;
    of.steps = 8000;
  } else if (size == Size::algorithmic && scale != Scale::smoke) {
    of = {"small", 5, 8, 64, 128, 10'000, 1e-3};
  } else if (size == Size::one_head) {
    of.n_layer = of.n_head = 1;
  }
  return of;
}

bool is_of_tasks(Size size) {
  return size == Size::algorithmic || size == Size::flip_flop || size == Size::one_head;
}

const Named& named(Scale scale) {
  return *std::find_if(scales().begin(), scales().end(),
                       [&](const Named& n) { return n.scale == scale; });
}

}  // namespace

std::string to_word(Scale scale) { return named(scale).word; }

Scale scale_named(const std::string& word) {
  std::vector<std::string> words;
  for (const Named& n : scales()) {
    if (word == n.word) return n.scale;
    words.emplace_back(n.word);
  }
  fail<ConfigError>("sweep", "--scale: expected ", listed(words, " or "), ", got '", word, "'",
                    did_you_mean(word, words));
}

std::string scale_words() {
  std::vector<std::string> words;
  for (const Named& n : scales()) words.emplace_back(n.word);
  return listed(words, " or ");
}

bool has_published_thresholds(Scale scale) {
  return scale == Scale::small || has_published_sizes(scale);
}

bool has_published_sizes(Scale scale) { return scale == Scale::brief || scale == Scale::paper; }

const Profile& profile_of(Scale scale) { return named(scale).profile; }

int64_t tokens_of(Scale scale, double units) { return tokens_of(profile_of(scale).unit, units); }

int64_t tokens_of(int64_t unit, double units) {
  return std::max<int64_t>(1, std::llround(units * static_cast<double>(unit)));
}

int64_t sequences_of(Scale scale, int64_t unit, int64_t n) {
  const double share = static_cast<double>(profile_of(scale).unit) / static_cast<double>(unit);
  return share >= 1 ? n : std::max<int64_t>(1, std::llround(static_cast<double>(n) * share));
}

run::RunConfig training_of(Scale scale, Size size, double train_len, double steps) {
  run::RunConfig c;
  const auto model = [&](const char* preset, int64_t n_layer, int64_t n_head, int64_t d_model) {
    c.preset = preset;
    c.n_layer = n_layer;
    c.n_head = n_head;
    c.d_model = d_model;
  };
  int64_t batch = 32, n_steps = 0;
  const bool is_large = size == Size::large;  // 247M is near 162M
  switch (scale) {
    case Scale::smoke:
      model("smoke", 2, 4, 32);
      c.lr = 3e-3;
      n_steps = 600;
      break;
    case Scale::tiny:
      is_large ? model("tiny", 6, 4, 128) : model("tiny", 4, 4, 64);
      c.lr = 2e-3;
      n_steps = is_large ? 2400 : 1200;
      break;
    case Scale::small:
      is_large ? model("small", 12, 8, 768) : model("small", 8, 8, 512);
      c.lr = is_large ? 6e-4 : 1e-3;
      batch = 64;
      n_steps = is_large ? 10'000 : 5000;
      break;
    case Scale::brief:
    case Scale::paper:
      c.preset = size == Size::base    ? "neox-162m"
                 : size == Size::large ? "neox-1.3b"
                                       : "baevski-247m";
      const TrainDefaults& recipe = train_defaults(c.preset);
      batch = recipe.batch_size;
      if (size == Size::baevski)  // as many tokens, whatever their length
        batch = std::max<int64_t>(1, std::llround(static_cast<double>(batch) / train_len));
      n_steps = recipe.steps;
      if (scale == Scale::brief) {
        n_steps /= kBriefShare;
        c.precision = "bf16";
        // An adaptive softmax has its logits in float32.
        if (size != Size::baevski) c.logits = "bf16";
      }
      break;
  }
  if (is_of_tasks(size)) {
    const TaskModel of = task_model(scale, size);
    model(of.preset, of.n_layer, of.n_head, of.d_model);
    c.lr = of.lr;
    c.logits.reset();
    batch = of.batch;
    n_steps = of.steps;
  }
  c.train_len = tokens_of(scale, train_len);
  c.batch = batch;
  c.steps = std::max<int64_t>(1, std::llround(static_cast<double>(n_steps) * steps));
  c.log_every = std::max<int64_t>(1, *c.steps / 20);
  c.valid_every = 0;
  // Minutes of work are lost at most, and a checkpoint of the published sizes takes seconds.
  c.checkpoint_every = scale == Scale::brief ? *c.steps : std::max<int64_t>(1, *c.steps / 4);
  c.keep = 1;
  return c;
}

std::string describe(Scale scale) {
  const Profile& p = profile_of(scale);
  if (scale == Scale::paper) return "paper: the published configuration, L = 512";
  const run::RunConfig c = training_of(scale, Size::base);
  if (scale == Scale::brief)
    return concat(
        "brief: the published models at L = 512, with 1/", kBriefShare, " of the published steps (",
        *c.steps, " of ", *c.steps * kBriefShare, " for 162M parameters, ",
        fixed(static_cast<double>(*c.steps * *c.batch * *c.train_len) / 1e6, 0),
        "M tokens), the published schedule compressed to them; bfloat16 with logits in bfloat16; "
        "measured on fewer tokens (",
        p.segments, " segments, ", p.sequences, " sequences, ", p.gradient_segments,
        " for gradients, up to ", p.max_tokens / 1000,
        "k tokens of a text). Findings are held against the papers' thresholds, as are those for "
        "the published size alone but for the ones that compare models up to their training "
        "length, which the number of steps decides");
  const double shorter = kPaperUnit / static_cast<double>(p.unit);
  return concat(to_word(scale), ": ", *c.n_layer, " layers, ", *c.n_head, " heads, width ",
                *c.d_model, "; L = ", p.unit, " for the papers' 512; ", *c.steps, " steps of ",
                *c.batch, " x ", p.unit, " tokens, Adam, peak learning rate ", shortest(*c.lr),
                "; linear biases ", shortest(shorter),
                " times steeper, so that slope x L stays; distances in tokens (windows, position "
                "maps) divided by ",
                shortest(shorter),
                "; T5's buckets smaller; logarithmic biases, rotary and sinusoidal angles as "
                "published, since they have no length of their own");
}

}  // namespace farfield::sweep
