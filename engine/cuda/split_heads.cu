#include <limits>
#include <type_traits>

#include "engine/cuda/context.h"
#include "engine/cuda/elements.cuh"
#include "engine/kernels/split_heads.h"

namespace farfield {
namespace {

// A head of one position, its number in q [B, H, T, K], and the first of the components of a
// thread.
struct Place {
  int64_t b, h, t, head;
  int c;
};

struct Layout {
  int64_t n_elements, n_h, n_t;
  int head_dim;
  int half;  // pairs that are turned
  bool interleaved;

  Layout(const Shape& heads, const Rotation& rotation)
      : n_elements(heads.numel()),
        n_h(heads[1]),
        n_t(heads[2]),
        head_dim(static_cast<int>(heads[3])),
        half(rotation.cos.defined() ? static_cast<int>(rotation.cos.dim(-1)) : 0),
        interleaved(rotation.interleaved) {}

  // Of the i-th piece of kN components; pieces are counted in 32 bits, whose divisions take a
  // fraction of the time.
  template <int kN>
  __device__ Place place(int64_t i) const {
    using Index = std::conditional_t<kN == 1, int64_t, uint32_t>;
    const auto piece = static_cast<Index>(i), pieces = static_cast<Index>(head_dim / kN);
    const auto of_t = static_cast<Index>(n_t), of_h = static_cast<Index>(n_h);
    const Index head = piece / pieces, row = head / of_t;
    return {static_cast<int64_t>(row / of_h), static_cast<int64_t>(row % of_h),
            static_cast<int64_t>(head % of_t), static_cast<int64_t>(head),
            static_cast<int>(piece % pieces) * kN};
  }
  // Where q of that head begins in qkv; k and v follow.
  __device__ int64_t row(const Place& p) const {
    return ((p.b * n_t + p.t) * n_h + p.h) * 3 * head_dim;
  }
  // Whether threads can take kN components at once, of arrays that begin at multiples of 16 bytes.
  bool fits(int n) const {
    return head_dim % n == 0 && (interleaved ? 2 * half : half) % n == 0 &&
           n_elements / n <= std::numeric_limits<uint32_t>::max();
  }
};

// Tables of angles, in rows of `half` for each position.
struct Angles {
  const float *cos = nullptr, *sin = nullptr, *scale = nullptr;
  int64_t batch_stride = 0;

  Angles(const Tensor& of_cos, const Tensor& of_sin, const Tensor& of_scale = {}) {
    if (!of_cos.defined()) return;
    cos = of_cos.data<float>();
    sin = of_sin.data<float>();
    if (of_scale.defined()) scale = of_scale.data<float>();
    if (of_cos.rank() == 3) batch_stride = of_cos.dim(1) * of_cos.dim(2);
  }
};

struct AllAngles {
  Angles q, k, far_q, far_k;

  explicit AllAngles(const Rotation& r)
      : q(r.cos, r.sin, r.scale_q),
        k(r.cos, r.sin, r.scale_k),
        far_q(r.far.cos_q, r.far.sin_q),
        far_k(r.far.cos_k, r.far.sin_k) {}
};

template <int kN, class T>
__device__ Vector<T, kN> load_whole(const T* from) {
  return *reinterpret_cast<const Vector<T, kN>*>(from);
}

// Angles of kN pairs that follow each other.
template <bool kIsBack, int kN>
struct Turn {
  Vector<float, kN> cos, sin;

  __device__ Turn(const Angles& angles, int64_t at)
      : cos(load_whole<kN>(angles.cos + at)), sin(load_whole<kN>(angles.sin + at)) {
    const Vector<float, kN> scale = angles.scale ? load_whole<kN>(angles.scale + at) : ones();
    for (int i = 0; i < kN; ++i) {
      cos.at[i] = cos.at[i] * scale.at[i];
      sin.at[i] = kIsBack ? -sin.at[i] * scale.at[i] : sin.at[i] * scale.at[i];
    }
  }
  static __device__ Vector<float, kN> ones() {
    Vector<float, kN> x;
    for (int i = 0; i < kN; ++i) x.at[i] = 1;
    return x;
  }
};

// Components c to c + kN - 1 of a turned head; turned back when kIsBack.
template <bool kIsBack, int kN, class T>
__device__ Vector<float, kN> turned(const T* head, const Layout& layout, const Angles& angles,
                                    const Place& p) {
  const Vector<float, kN> own = widened(load_whole<kN>(head + p.c));
  if (p.c >= 2 * layout.half) return own;
  const int64_t row = p.b * angles.batch_stride + p.t * layout.half;
  Vector<float, kN> y;
  if constexpr (kN > 1)
    if (layout.interleaved) {  // pairs are whole in a piece
      const Turn<kIsBack, kN / 2> turn(angles, row + p.c / 2);
      for (int i = 0; i < kN / 2; ++i) {
        const float a = own.at[2 * i], b = own.at[2 * i + 1];
        y.at[2 * i] = turned_first(a, b, turn.cos.at[i], turn.sin.at[i]);
        y.at[2 * i + 1] = turned_second(a, b, turn.cos.at[i], turn.sin.at[i]);
      }
      return y;
    }
  const bool is_second = layout.interleaved ? p.c % 2 == 1 : p.c >= layout.half;
  const int to_other = layout.interleaved ? 1 : layout.half;
  const Vector<float, kN> other =
      widened(load_whole<kN>(head + p.c + (is_second ? -to_other : to_other)));
  const int pair = layout.interleaved ? p.c / 2 : is_second ? p.c - layout.half : p.c;
  const Turn<kIsBack, kN> turn(angles, row + pair);
  for (int i = 0; i < kN; ++i)
    y.at[i] = is_second ? turned_second(other.at[i], own.at[i], turn.cos.at[i], turn.sin.at[i])
                        : turned_first(own.at[i], other.at[i], turn.cos.at[i], turn.sin.at[i]);
  return y;
}

// q, k and v by head, and the far copies, of gradients or values; null when there are none.
template <class T>
struct Pointers {
  T *q, *k, *v, *far_q = nullptr, *far_k = nullptr;
};

// A thread takes kN components of each, at once. Without far copies half of the code is not there,
// and the registers that it takes are not either.
template <int kN, bool kHasFar, class T>
__global__ void split_heads_kernel(Layout layout, AllAngles angles, const T* qkv, Pointers<T> to) {
  const int64_t i = thread_index();
  if (i >= layout.n_elements / kN) return;
  const Place p = layout.place<kN>(i);
  const int64_t at = p.head * layout.head_dim + p.c;
  const T* const q = qkv + layout.row(p);
  const T* const k = q + layout.head_dim;
  const auto put = [at](const Vector<T, kN>& x, T* heads) {
    *reinterpret_cast<Vector<T, kN>*>(heads + at) = x;
  };
  put(narrowed<T>(turned<false, kN>(q, layout, angles.q, p)), to.q);
  put(narrowed<T>(turned<false, kN>(k, layout, angles.k, p)), to.k);
  put(load_whole<kN>(k + layout.head_dim + p.c), to.v);
  if constexpr (kHasFar) {
    put(narrowed<T>(turned<false, kN>(q, layout, angles.far_q, p)), to.far_q);
    put(narrowed<T>(turned<false, kN>(k, layout, angles.far_k, p)), to.far_k);
  }
}

template <int kN, bool kHasFar, class T>
__global__ void split_heads_backward_kernel(Layout layout, AllAngles angles, Pointers<const T> from,
                                            T* dqkv) {
  const int64_t i = thread_index();
  if (i >= layout.n_elements / kN) return;
  const Place p = layout.place<kN>(i);
  const int64_t head = p.head * layout.head_dim;
  Vector<float, kN> dq = turned<true, kN>(from.q + head, layout, angles.q, p);
  Vector<float, kN> dk = turned<true, kN>(from.k + head, layout, angles.k, p);
  if constexpr (kHasFar) {  // summed before they are rounded
    const Vector<float, kN> far_q = turned<true, kN>(from.far_q + head, layout, angles.far_q, p);
    const Vector<float, kN> far_k = turned<true, kN>(from.far_k + head, layout, angles.far_k, p);
    for (int j = 0; j < kN; ++j) {
      dq.at[j] += far_q.at[j];
      dk.at[j] += far_k.at[j];
    }
  }
  T* const to = dqkv + layout.row(p) + p.c;
  const auto put = [to, &layout](const Vector<T, kN>& x, int part) {
    *reinterpret_cast<Vector<T, kN>*>(to + part * layout.head_dim) = x;
  };
  put(narrowed<T>(dq), 0);
  put(narrowed<T>(dk), 1);
  put(load_whole<kN>(from.v + head + p.c), 2);
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
void dispatch_piece(const Layout& layout, const AllAngles& angles, const Pointers<const T>& heads,
                    const T* qkv, const F& f) {
  constexpr int kN = kPieceSize<T>;
  bool fits =
      layout.fits(kN) && is_aligned(qkv, heads.q, heads.k, heads.v, heads.far_q, heads.far_k);
  for (const Angles* a : {&angles.q, &angles.k, &angles.far_q, &angles.far_k})
    fits = fits && is_aligned(a->cos, a->sin, a->scale);
  if (fits)
    f(std::integral_constant<int, kN>{});
  else
    f(std::integral_constant<int, 1>{});
}

}  // namespace

void split_heads_forward(Cuda device, const Tensor& qkv, const Rotation& rotation, Heads& heads) {
  if (qkv.numel() == 0) return;
  const Layout layout(heads.q.shape(), rotation);
  dispatch_device_float(qkv.dtype(), [&](auto type) {
    using T = decltype(type);
    const AllAngles angles(rotation);
    dispatch_piece<T>(layout, angles, pointers<const T>(heads), qkv.data<T>(), [&](auto size) {
      constexpr int kN = decltype(size)::value;
      launch(
          heads.far.defined() ? split_heads_kernel<kN, true, T> : split_heads_kernel<kN, false, T>,
          blocks_for(layout.n_elements / kN), kThreads, 0, stream_of(device), layout, angles,
          qkv.data<T>(), pointers<T>(heads));
    });
  });
}

void split_heads_backward(Cuda device, const Heads& dheads, const Rotation& rotation,
                          Tensor& dqkv) {
  if (dqkv.numel() == 0) return;
  const Layout layout(dheads.q.shape(), rotation);
  dispatch_device_float(dqkv.dtype(), [&](auto type) {
    using T = decltype(type);
    const AllAngles angles(rotation);
    const Pointers<const T> from = pointers<const T>(dheads);
    dispatch_piece<T>(layout, angles, from, dqkv.data<T>(), [&](auto size) {
      constexpr int kN = decltype(size)::value;
      launch(from.far_q ? split_heads_backward_kernel<kN, true, T>
                        : split_heads_backward_kernel<kN, false, T>,
             blocks_for(layout.n_elements / kN), kThreads, 0, stream_of(device), layout, angles,
             from, dqkv.data<T>());
    });
  });
}

}  // namespace farfield
