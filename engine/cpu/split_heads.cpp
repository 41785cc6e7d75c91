#include "engine/kernels/split_heads.h"

#include <algorithm>
#include <array>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/cpu/convert.h"

namespace farfield {
namespace {

// The cosines and sines of one position, times the scale of q or k.
template <class A>
struct Turn {
  const A* cos = nullptr;
  const A* sin = nullptr;
};
template <class A>
struct HeadTurns {
  Turn<A> q = {}, k = {}, far_q = {}, far_k = {};
};

// The tables of a rotation, as rows of R/2.
template <class A>
class Turns {
 public:
  explicit Turns(const Rotation& r) {
    if (!r.cos.defined()) return;
    half_ = r.cos.dim(-1);
    cos_ = r.cos.data<A>();
    sin_ = r.sin.data<A>();
    scale_q_ = r.scale_q.defined() ? r.scale_q.data<A>() : nullptr;
    scale_k_ = r.scale_k.defined() ? r.scale_k.data<A>() : nullptr;
    per_batch_ = r.cos.rank() == 3;
    if (!r.far.cos_q.defined()) return;
    far_q_ = {r.far.cos_q.data<A>(), r.far.sin_q.data<A>()};
    far_k_ = {r.far.cos_k.data<A>(), r.far.sin_k.data<A>()};
  }

  int64_t half() const { return half_; }
  // scratch: room for 4 half() values
  HeadTurns<A> at(int64_t b, int64_t t, int64_t n_t, A* scratch) const {
    const int64_t near = ((per_batch_ ? b * n_t : 0) + t) * half_, far = t * half_;
    HeadTurns<A> turns{scaled(near, scale_q_, scratch),
                       scaled(near, scale_k_, scratch + 2 * half_)};
    if (far_q_.cos != nullptr) {
      turns.far_q = {far_q_.cos + far, far_q_.sin + far};
      turns.far_k = {far_k_.cos + far, far_k_.sin + far};
    }
    return turns;
  }

 private:
  Turn<A> scaled(int64_t offset, const A* scale, A* scratch) const {
    if (scale == nullptr || half_ == 0) return {cos_ + offset, sin_ + offset};
    for (int64_t i = 0; i < half_; ++i) scratch[i] = cos_[offset + i] * scale[offset + i];
    for (int64_t i = 0; i < half_; ++i) scratch[half_ + i] = sin_[offset + i] * scale[offset + i];
    return {scratch, scratch + half_};
  }

  int64_t half_ = 0;
  bool per_batch_ = false;
  const A* cos_ = nullptr;
  const A* sin_ = nullptr;
  const A* scale_q_ = nullptr;
  const A* scale_k_ = nullptr;
  Turn<A> far_q_, far_k_;
};

// Turns heads of K components, of which it turns the first 2 half.
struct Turner {
  int64_t half, head_dim;
  bool interleaved;

  // y = x turned; backwards when kTransposed.
  template <bool kTransposed, class T, class Y>
  void turn(const T* __restrict x, const Turn<Accumulate<T>>& by, Y* __restrict y) const {
    using A = Accumulate<T>;
    if (half == 0) return convert(x, head_dim, y);
    const A* __restrict cos = by.cos;
    const A* __restrict sin = by.sin;
    constexpr A kSign = kTransposed ? -1 : 1;
    const auto first = [&](A a, A b, int64_t i) {
      return static_cast<Y>(turned_first(a, b, cos[i], kSign * sin[i]));
    };
    const auto second = [&](A a, A b, int64_t i) {
      return static_cast<Y>(turned_second(a, b, cos[i], kSign * sin[i]));
    };
    if (interleaved) {
      for (int64_t i = 0; i < half; ++i) {
        const A a = static_cast<A>(x[2 * i]), b = static_cast<A>(x[2 * i + 1]);
        y[2 * i] = first(a, b, i);
        y[2 * i + 1] = second(a, b, i);
      }
    } else {
      for (int64_t i = 0; i < half; ++i) {
        const A a = static_cast<A>(x[i]), b = static_cast<A>(x[half + i]);
        y[i] = first(a, b, i);
        y[half + i] = second(a, b, i);
      }
    }
    convert(x + 2 * half, head_dim - 2 * half, y + 2 * half);
  }

  // y = both gradients turned back, summed before they are rounded. scratch: 2 head_dim values.
  template <class T, class A = Accumulate<T>>
  void turn_back(const T* near, const Turn<A>& by, const T* far, const Turn<A>& far_by, A* scratch,
                 T* y) const {
    turn<true>(near, by, scratch);
    turn<true>(far, far_by, scratch + head_dim);
    for (int64_t i = 0; i < head_dim; ++i)
      y[i] = static_cast<T>(scratch[i] + scratch[head_dim + i]);
  }
};

// A group of heads at one position.
struct GroupPlace {
  int64_t n_q;  // heads of queries
  int64_t qkv;  // offset of the group in qkv: its heads of queries, then k and v
  int64_t q;    // offset of its first head in q; the next one lies q_step further
  int64_t q_step;
  int64_t k;  // offset in k and v
};

// Calls body(place of a group, its turns, the turner, room for 2 K values) for every group of every
// position: a block of positions group by group, so that both sides are read and written in pieces
// of a few kilobytes. q and k are the shapes of the heads.
template <class T, class F>
void for_each_group(const Shape& q, const Shape& k, const Rotation& rotation, const F& body) {
  using A = Accumulate<T>;
  constexpr int64_t kBlock = 16;
  const int64_t n_b = k[0], n_g = k[1], n_t = k[2], head_dim = k[3];
  if (n_b * n_g * n_t * head_dim == 0) return;
  const int64_t n_q = q[1] / n_g, group_size = (n_q + 2) * head_dim;
  const int64_t n_blocks = (n_t + kBlock - 1) / kBlock;
  const Turns<A> turns(rotation);
  const Turner turner{turns.half(), head_dim, rotation.interleaved};
  const int64_t scratch_size = 4 * turns.half();
  parallel_for(n_b * n_blocks, [&](int64_t index) {
    const int64_t b = index / n_blocks, begin = index % n_blocks * kBlock;
    const int64_t n = std::min(kBlock, n_t - begin);
    std::vector<A> scratch(static_cast<size_t>(kBlock * scratch_size + 2 * head_dim));
    A* const room = scratch.data() + kBlock * scratch_size;
    std::array<HeadTurns<A>, kBlock> at;
    for (int64_t i = 0; i < n; ++i)
      at[static_cast<size_t>(i)] = turns.at(b, begin + i, n_t, scratch.data() + i * scratch_size);
    for (int64_t g = 0; g < n_g; ++g)
      for (int64_t i = 0; i < n; ++i) {
        const int64_t t = begin + i;
        body(GroupPlace{.n_q = n_q,
                        .qkv = ((b * n_t + t) * n_g + g) * group_size,
                        .q = ((b * n_g + g) * n_q * n_t + t) * head_dim,
                        .q_step = n_t * head_dim,
                        .k = ((b * n_g + g) * n_t + t) * head_dim},
             at[static_cast<size_t>(i)], turner, room);
      }
  });
}

// Turns q and k of qkv [B, T, H, 3, K] where they lie; backwards when kTransposed.
template <bool kTransposed>
void turn_in_place(int64_t n_head, const Rotation& rotation, Tensor& qkv) {
  const Shape heads{qkv.dim(0), n_head, qkv.dim(1), qkv.dim(2) / (3 * n_head)};
  dispatch_float(qkv.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    T* const data = qkv.data<T>();
    for_each_group<T>(
        heads, heads, rotation,
        [&](const GroupPlace& at, const HeadTurns<A>& turns, const Turner& turner, A* room) {
          const auto turn = [&](T* head, const Turn<A>& by) {
            turner.turn<kTransposed>(head, by, room);
            convert(room, turner.head_dim, head);
          };
          turn(data + at.qkv, turns.q);
          turn(data + at.qkv + turner.head_dim, turns.k);
        });
  });
}

}  // namespace

void split_heads_forward(Cpu, const Tensor& qkv, const Rotation& rotation, Heads& heads) {
  dispatch_float(qkv.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const T* const from = qkv.data<T>();
    T *const q = heads.q.data<T>(), *const k = heads.k.data<T>(), *const v = heads.v.data<T>();
    T* const far_q = heads.far.defined() ? heads.far.q.data<T>() : nullptr;
    T* const far_k = heads.far.defined() ? heads.far.k.data<T>() : nullptr;
    for_each_group<T>(
        heads.q.shape(), heads.k.shape(), rotation,
        [&](const GroupPlace& at, const HeadTurns<A>& turns, const Turner& turner, A*) {
          const T* in = from + at.qkv;
          for (int64_t h = 0; h < at.n_q; ++h, in += turner.head_dim) {
            const int64_t to = at.q + h * at.q_step;
            turner.turn<false>(in, turns.q, q + to);
            if (far_q) turner.turn<false>(in, turns.far_q, far_q + to);
          }
          turner.turn<false>(in, turns.k, k + at.k);
          if (far_k) turner.turn<false>(in, turns.far_k, far_k + at.k);
          copy_short(in + turner.head_dim, turner.head_dim, v + at.k);
        });
  });
}

void split_heads_backward(Cpu, const Heads& dheads, const Rotation& rotation, Tensor& dqkv) {
  dispatch_float(dqkv.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const T *const dq = dheads.q.data<T>(), *const dk = dheads.k.data<T>(),
                   *const dv = dheads.v.data<T>();
    const T* const far_dq = dheads.far.defined() ? dheads.far.q.data<T>() : nullptr;
    const T* const far_dk = dheads.far.defined() ? dheads.far.k.data<T>() : nullptr;
    T* const to = dqkv.data<T>();
    for_each_group<T>(
        dheads.q.shape(), dheads.k.shape(), rotation,
        [&](const GroupPlace& at, const HeadTurns<A>& turns, const Turner& turner, A* room) {
          T* out = to + at.qkv;
          for (int64_t h = 0; h < at.n_q; ++h, out += turner.head_dim) {
            const int64_t of_q = at.q + h * at.q_step;
            if (far_dq)
              turner.turn_back(dq + of_q, turns.q, far_dq + of_q, turns.far_q, room, out);
            else
              turner.turn<true>(dq + of_q, turns.q, out);
          }
          if (far_dk)
            turner.turn_back(dk + at.k, turns.k, far_dk + at.k, turns.far_k, room, out);
          else
            turner.turn<true>(dk + at.k, turns.k, out);
          copy_short(dv + at.k, turner.head_dim, out + turner.head_dim);
        });
  });
}

void turn_heads(Cpu, int64_t n_head, const Rotation& rotation, Tensor& qkv) {
  turn_in_place<false>(n_head, rotation, qkv);
}
void turn_heads_back(Cpu, int64_t n_head, const Rotation& rotation, Tensor& dqkv) {
  turn_in_place<true>(n_head, rotation, dqkv);
}

}  // namespace farfield
