#include "engine/distributed/sharded_optimizer.h"

#include <cmath>

#include "engine/base/error.h"
#include "engine/distributed/gather.h"
#include "engine/distributed/grad_norm.h"
#include "engine/kernels.h"
#include "engine/ops/pointwise.h"
#include "engine/ops/view.h"

namespace farfield {
namespace {

constexpr std::string_view kWhere = "optimizer";

// The segment of a parameter's tensor, or of a tensor of the same size.
Tensor part_of(const Tensor& whole, const FlatLayout::Segment& segment) {
  return whole.view({segment.end - segment.begin}, segment.begin);
}

std::string name_of(const Parameter& whole, const FlatLayout::Segment& segment) {
  return concat(whole.name, '[', segment.begin, ':', segment.end, ']');
}

}  // namespace

ShardedOptimizer::ShardedOptimizer(std::vector<Parameter> parameters, const ProcessGrid& processes,
                                   const Make& make)
    : parameters_(std::move(parameters)), processes_(processes), layout_(parameters_) {
  if (processes_.data.is_alone()) {
    own_ = make(parameters_);
    return;
  }
  for (const Parameter& p : parameters_)
    require<DTypeError>(p.value.dtype() == DType::f32, kWhere,
                        "expected float32 parameters for several processes, got ", p.value.dtype(),
                        " in '", p.name, "'");
  buckets_ = std::make_unique<GradientBuckets>(layout_, processes_.data, device());
  std::vector<Parameter> own;
  for (const comm::Range& range : own_ranges())
    for (const FlatLayout::Segment& segment : layout_.segments(range)) {
      const Parameter& whole = parameters_[segment.parameter];
      shards_.push_back({segment, part_of(whole.value, segment)});
      own.push_back(
          {.name = name_of(whole, segment), .value = shards_.back().value, .decay = whole.decay});
    }
  own_ = make(std::move(own));
}

Device ShardedOptimizer::device() const {
  return parameters_.empty() ? Device{} : parameters_.front().value.device();
}

std::vector<comm::Range> ShardedOptimizer::own_ranges() const {
  std::vector<comm::Range> ranges;
  for (int64_t k = 0; k < layout_.n_bucket(); ++k) {
    const comm::Range bucket = layout_.bucket(k),
                      part = processes_.data.own_part(bucket.size(), FlatLayout::unit());
    if (part.size() > 0) ranges.push_back({bucket.begin + part.begin, bucket.begin + part.end});
  }
  return ranges;
}

// On the CPU sums of blocks that are whole in one process, added in the order of all blocks.
Tensor ShardedOptimizer::grad_norm() const {
  if (!is_sharded()) return device_grad_norm(parameters_, processes_.tensor);
  if (!processes_.tensor.is_alone()) return grad_norm_of_shards();
  const Tensor& flat = buckets_->flat();
  const bool has_blocks = flat.device().kind == Device::Kind::cpu;
  const int64_t unit = FlatLayout::unit();
  Tensor sums = Tensor::zeros({has_blocks ? (layout_.numel() + unit - 1) / unit : 1}, DType::f64,
                              flat.device());
  std::vector<Tensor> own;
  for (const comm::Range& range : own_ranges()) {
    own.push_back(flat.view({range.size()}, range.begin));
    if (!has_blocks) continue;
    Tensor to = sums.view({(range.size() + unit - 1) / unit}, range.begin / unit);
    square_sums(Cpu{}, {&own.back(), 1}, to);
  }
  if (!has_blocks) {
    Tensor norm = Tensor::empty({}, DType::f64, flat.device());
    dispatch(flat.device(), [&](auto tag) { global_norm(tag, own, norm); });
    sums.assign((norm * norm).view({1}));
  }
  processes_.data.sum(sums);
  if (!has_blocks) return sqrt(reshape(sums, {}));
  double total = 0;
  for (const double sum : sums.to_vector()) total += sum;
  return Tensor::full({}, std::sqrt(total), DType::f64, flat.device());
}

Tensor ShardedOptimizer::grad_norm_of_shards() const {
  GradientParts own;
  for (const Shard& shard : shards_)
    (parameters_[shard.segment.parameter].shard.is_whole() ? own.whole : own.shards)
        .push_back(buckets_->flat().view(shard.value.shape(), shard.segment.at));
  return device_grad_norm(own, processes_, device());
}

void ShardedOptimizer::update(const StepGuard& guard, const std::vector<bool>& have_gradient) {
  if (!is_sharded()) return own_->update(guard);
  Tensor flat = buckets_->flat();
  for (const Shard& shard : shards_)
    shard.value.set_grad(have_gradient[shard.segment.parameter]
                             ? flat.view(shard.value.shape(), shard.segment.at)
                             : Tensor());
  own_->update(guard);
  own_->zero_grad();
  // The gradients have been used: the new weights take their way.
  for (const Shard& shard : shards_)
    flat.view(shard.value.shape(), shard.segment.at).assign(shard.value);
  for (int64_t k = 0; k < layout_.n_bucket(); ++k) {
    const comm::Range bucket = layout_.bucket(k);
    processes_.data.all_gather(flat.view({bucket.size()}, bucket.begin), FlatLayout::unit());
    for (const FlatLayout::Segment& segment : layout_.segments(bucket)) {
      Tensor to = part_of(parameters_[segment.parameter].value, segment);
      to.assign(flat.view(to.shape(), segment.at));
    }
  }
}

std::vector<std::pair<std::string, Tensor>> ShardedOptimizer::state() const {
  const std::vector<std::pair<std::string, Tensor>> own = own_state();
  return processes_.data.is_first() ? gather_whole(own, parameters_, processes_.tensor) : own;
}

std::vector<std::pair<std::string, Tensor>> ShardedOptimizer::own_state() const {
  if (!is_sharded()) return own_->state();
  std::vector<std::vector<std::pair<std::string, Tensor>>> of_parameter(parameters_.size());
  for (const Optimizer::Moment& moment : own_->moments()) {
    for (size_t i = 0; i < parameters_.size() && processes_.data.is_first(); ++i)
      of_parameter[i].emplace_back(parameters_[i].name + '.' + moment.name,
                                   Tensor::empty(parameters_[i].value.shape()));
    size_t shard = 0;
    for (int64_t k = 0; k < layout_.n_bucket(); ++k) {
      const comm::Range bucket = layout_.bucket(k);
      const Tensor all = Tensor::empty({bucket.size()}, DType::f32, buckets_->flat().device());
      for (; shard < shards_.size() && shards_[shard].segment.at < bucket.end; ++shard)
        all.view(moment.of[shard].shape(), shards_[shard].segment.at - bucket.begin)
            .assign(moment.of[shard]);
      processes_.data.all_gather(all, FlatLayout::unit());
      if (!processes_.data.is_first()) continue;
      for (const FlatLayout::Segment& segment : layout_.segments(bucket)) {
        Tensor to = part_of(of_parameter[segment.parameter].back().second, segment);
        to.assign(all.view(to.shape(), segment.at - bucket.begin));
      }
    }
  }
  std::vector<std::pair<std::string, Tensor>> all = own_->scalars();
  for (auto& tensors : of_parameter) all.insert(all.end(), tensors.begin(), tensors.end());
  return all;
}

void ShardedOptimizer::load_state(const std::map<std::string, Tensor>& tensors, int64_t t) {
  std::map<std::string, Tensor> own;
  for (const auto& [name, scalar] : own_->scalars())
    own[name] = find_state(tensors, name, scalar.shape(), scalar.dtype());
  for (const Optimizer::Moment& moment : own_->moments()) {
    std::vector<Tensor> parts;
    for (const Parameter& p : parameters_) {
      const std::string name = p.name + '.' + moment.name;
      parts.push_back(own_shard(
          find_state(tensors, name, p.shard.whole_of(p.value.shape()), p.value.dtype()), p.shard));
      if (!is_sharded()) own[name] = parts.back();
    }
    for (const Shard& shard : shards_)
      own[name_of(parameters_[shard.segment.parameter], shard.segment) + '.' + moment.name] =
          part_of(parts[shard.segment.parameter], shard.segment);
  }
  own_->load_state(own, t);
}

}  // namespace farfield
