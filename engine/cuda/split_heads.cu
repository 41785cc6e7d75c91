#include <algorithm>
#include <initializer_list>
#include <limits>
#include <type_traits>

#include "engine/cuda/context.h"
#include "engine/cuda/turn.cuh"

namespace farfield {
namespace {

// A group of heads of one position, its number in k [B, G, T, K], and the unit of a thread.
struct Place {
  int64_t b, g, t, group;
  int unit;
};

struct Layout {
  int64_t n_rows, n_g, n_t;  // rows: groups of all positions
  int n_q;                   // heads of queries in a group
  int head_dim;

  // Of heads [B, H, T, K] of queries and [B, G, T, K] of keys.
  Layout(const Shape& q, const Shape& k)
      : n_rows(k[0] * k[1] * k[2]),
        n_g(k[1]),
        n_t(k[2]),
        n_q(static_cast<int>(q[1] / std::max<int64_t>(k[1], 1))),
        head_dim(static_cast<int>(k[3])) {}

  // Of thread i, of n_unit a row; threads are counted in 32 bits where kN > 1 (fits()), whose
  // divisions take a fraction of the time.
  template <int kN>
  __device__ Place place(int64_t i, int n_unit) const {
    using Index = std::conditional_t<kN == 1, int64_t, uint32_t>;
    const auto thread = static_cast<Index>(i), units = static_cast<Index>(n_unit);
    const auto of_t = static_cast<Index>(n_t), of_g = static_cast<Index>(n_g);
    const Index group = thread / units, row = group / of_t;
    return {static_cast<int64_t>(row / of_g), static_cast<int64_t>(row % of_g),
            static_cast<int64_t>(group % of_t), static_cast<int64_t>(group),
            static_cast<int>(thread % units)};
  }
  // Where the first q of that group begins in qkv; the others, then k and v follow.
  __device__ int64_t row(const Place& p) const {
    return ((p.b * n_t + p.t) * n_g + p.g) * (n_q + 2) * head_dim;
  }
  // Where head i of the group begins in q.
  __device__ int64_t q_row(const Place& p, int i) const {
    return (((p.b * n_g + p.g) * n_q + i) * n_t + p.t) * head_dim;
  }
  // Whether threads can take kN components at once, of arrays that begin at multiples of 16 bytes.
  bool fits(int n) const {
    return head_dim % n == 0 && n_rows * head_dim / n <= std::numeric_limits<uint32_t>::max();
  }
};

struct AllAngles {
  Angles q, k, far_q, far_k;

  explicit AllAngles(const Rotation& r)
      : q(Angles::of_q(r)),
        k(Angles::of_k(r)),
        far_q(r, r.far.cos_q, r.far.sin_q),
        far_k(r, r.far.cos_k, r.far.sin_k) {}
};

// q, k and v by head, and the far copies, of gradients or values; null when there are none.
template <class T>
struct Pointers {
  T *q, *k, *v, *far_q = nullptr, *far_k = nullptr;
};

template <int kN, class T>
__device__ void copy_unit(const T* from, T* to, const UnitColumns& at) {
  *reinterpret_cast<Vector<T, kN>*>(to + at.first) = load_whole<kN>(from + at.first);
  if (at.second >= 0)
    *reinterpret_cast<Vector<T, kN>*>(to + at.second) = load_whole<kN>(from + at.second);
}

// A thread takes a unit of each of a group's q, k and v. kHasFar = false drops half of the code,
// and the registers that it needs.
template <int kN, bool kHasFar, class T>
__global__ void split_heads_kernel(Layout layout, AllAngles angles, const T* qkv, Pointers<T> to) {
  const int n_unit = angles.q.n_unit<kN>(layout.head_dim);
  const int64_t i = thread_index();
  if (i >= layout.n_rows * n_unit) return;
  const Place p = layout.place<kN>(i, n_unit);
  const UnitColumns at = UnitColumns::of<kN>(p.unit, angles.q);
  const int64_t begin = p.group * layout.head_dim;
  const T* q = qkv + layout.row(p);
  for (int h = 0; h < layout.n_q; ++h, q += layout.head_dim) {
    const int64_t q_begin = layout.q_row(p, h);
    Unit<false, kN>(q, at, angles.q, angles.q.row(p.b, p.t)).put(to.q + q_begin, at);
    if constexpr (kHasFar)
      Unit<false, kN>(q, at, angles.far_q, angles.far_q.row(p.b, p.t)).put(to.far_q + q_begin, at);
  }
  const T* const k = q;
  Unit<false, kN>(k, at, angles.k, angles.k.row(p.b, p.t)).put(to.k + begin, at);
  copy_unit<kN>(k + layout.head_dim, to.v + begin, at);
  if constexpr (kHasFar)
    Unit<false, kN>(k, at, angles.far_k, angles.far_k.row(p.b, p.t)).put(to.far_k + begin, at);
}

template <int kN, bool kHasFar, class T>
__global__ void split_heads_backward_kernel(Layout layout, AllAngles angles, Pointers<const T> from,
                                            T* dqkv) {
  const int n_unit = angles.q.n_unit<kN>(layout.head_dim);
  const int64_t i = thread_index();
  if (i >= layout.n_rows * n_unit) return;
  const Place p = layout.place<kN>(i, n_unit);
  const UnitColumns at = UnitColumns::of<kN>(p.unit, angles.q);
  T* to = dqkv + layout.row(p);
  // Gradients of both copies are summed before rounding.
  const auto put = [&](int64_t begin, const T* near, const Angles& by, const T* far,
                       const Angles& far_by) {
    Unit<true, kN> dx(near + begin, at, by, by.row(p.b, p.t));
    if constexpr (kHasFar) dx.add(Unit<true, kN>(far + begin, at, far_by, far_by.row(p.b, p.t)));
    dx.put(to, at);
    to += layout.head_dim;
  };
  for (int h = 0; h < layout.n_q; ++h)
    put(layout.q_row(p, h), from.q, angles.q, from.far_q, angles.far_q);
  const int64_t begin = p.group * layout.head_dim;
  put(begin, from.k, angles.k, from.far_k, angles.far_k);
  copy_unit<kN>(from.v + begin, to, at);
}

// A thread takes a unit that is turned of q and of k, where they lie.
template <int kN, class T>
__global__ void turn_heads_kernel(Layout layout, Angles of_q, Angles of_k, T* qkv) {
  const int n_unit = of_q.n_turned_unit<kN>();
  const int64_t i = thread_index();
  if (i >= layout.n_rows * n_unit) return;
  const Place p = layout.place<kN>(i, n_unit);
  const UnitColumns at = UnitColumns::of<kN>(p.unit, of_q);
  T* const q = qkv + layout.row(p);
  T* const k = q + layout.head_dim;
  Unit<false, kN>(q, at, of_q, of_q.row(p.b, p.t)).put(q, at);
  Unit<false, kN>(k, at, of_k, of_k.row(p.b, p.t)).put(k, at);
}

// The pointers of `heads`, of Element or const Element.
template <class Element, class SomeHeads>
Pointers<Element> pointers(SomeHeads& heads) {
  using T = std::remove_const_t<Element>;
  Pointers<Element> result{heads.q.template data<T>(), heads.k.template data<T>(),
                           heads.v.template data<T>()};
  if (heads.far.defined()) {
    result.far_q = heads.far.q.template data<T>();
    result.far_k = heads.far.k.template data<T>();
  }
  return result;
}

// Calls f with the number of components that a thread takes: as many as 16 bytes hold where every
// array and every part of a head begin at a multiple of that, else 1.
template <class T, class F>
void dispatch_piece(const Layout& layout, bool are_aligned,
                    const std::initializer_list<Angles>& angles, const F& f) {
  constexpr int kN = kPieceSize<T>;
  const bool fit = std::all_of(angles.begin(), angles.end(),
                               [](const Angles& a) { return a.fits(kPieceSize<T>); });
  if (fit && are_aligned && layout.fits(kN))
    f(std::integral_constant<int, kN>{});
  else
    f(std::integral_constant<int, 1>{});
}

template <class T, class F>
void dispatch_piece(const Layout& layout, const AllAngles& angles, const Pointers<const T>& heads,
                    const T* qkv, const F& f) {
  dispatch_piece<T>(layout, is_aligned(qkv, heads.q, heads.k, heads.v, heads.far_q, heads.far_k),
                    {angles.q, angles.k, angles.far_q, angles.far_k}, f);
}

}  // namespace

void split_heads_forward(Cuda device, const Tensor& qkv, const Rotation& rotation, Heads& heads) {
  if (qkv.numel() == 0) return;
  const Layout layout(heads.q.shape(), heads.k.shape());
  dispatch_device_float(qkv.dtype(), [&](auto type) {
    using T = decltype(type);
    const AllAngles angles(rotation);
    dispatch_piece<T>(layout, angles, pointers<const T>(heads), qkv.data<T>(), [&](auto size) {
      constexpr int kN = decltype(size)::value;
      launch(
          heads.far.defined() ? split_heads_kernel<kN, true, T> : split_heads_kernel<kN, false, T>,
          blocks_for(layout.n_rows * angles.q.n_unit<kN>(layout.head_dim)), kThreads, 0,
          stream_of(device), layout, angles, qkv.data<T>(), pointers<T>(heads));
    });
  });
}

void split_heads_backward(Cuda device, const Heads& dheads, const Rotation& rotation,
                          Tensor& dqkv) {
  if (dqkv.numel() == 0) return;
  const Layout layout(dheads.q.shape(), dheads.k.shape());
  dispatch_device_float(dqkv.dtype(), [&](auto type) {
    using T = decltype(type);
    const AllAngles angles(rotation);
    const Pointers<const T> from = pointers<const T>(dheads);
    dispatch_piece<T>(layout, angles, from, dqkv.data<T>(), [&](auto size) {
      constexpr int kN = decltype(size)::value;
      launch(from.far_q ? split_heads_backward_kernel<kN, true, T>
                        : split_heads_backward_kernel<kN, false, T>,
             blocks_for(layout.n_rows * angles.q.n_unit<kN>(layout.head_dim)), kThreads, 0,
             stream_of(device), layout, angles, from, dqkv.data<T>());
    });
  });
}

void turn_heads(Cuda device, int64_t n_head, const Rotation& rotation, Tensor& qkv) {
  if (qkv.numel() == 0 || rotation.cos.numel() == 0) return;
  const Shape heads{qkv.dim(0), n_head, qkv.dim(1), qkv.dim(2) / (3 * n_head)};
  const Layout layout(heads, heads);
  dispatch_device_float(qkv.dtype(), [&](auto type) {
    using T = decltype(type);
    const Angles of_q = Angles::of_q(rotation), of_k = Angles::of_k(rotation);
    T* const data = qkv.data<T>();
    dispatch_piece<T>(layout, is_aligned(data), {of_q, of_k}, [&](auto size) {
      constexpr int kN = decltype(size)::value;
      launch(turn_heads_kernel<kN, T>, blocks_for(layout.n_rows * of_q.n_turned_unit<kN>()),
             kThreads, 0, stream_of(device), layout, of_q, of_k, data);
    });
  });
}

}  // namespace farfield
