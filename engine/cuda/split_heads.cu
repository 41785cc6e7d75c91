#include "engine/cuda/context.h"
#include "engine/cuda/elements.cuh"
#include "engine/kernels/split_heads.h"

namespace farfield {
namespace {

// A head of one position, by its place in q [B, H, T, K], and one component of it.
struct Place {
  int64_t b, h, t;
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

  __device__ Place place(int64_t i) const {
    const int64_t head = i / head_dim;
    return {head / n_t / n_h, head / n_t % n_h, head % n_t, static_cast<int>(i % head_dim)};
  }
  // Where q of that head begins in qkv; k and v follow.
  __device__ int64_t row(const Place& p) const {
    return ((p.b * n_t + p.t) * n_h + p.h) * 3 * head_dim;
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

// Component c of a turned head; turned back when kIsBack.
template <bool kIsBack, class T>
__device__ float turned(const T* head, const Layout& layout, const Angles& angles, const Place& p) {
  if (p.c >= 2 * layout.half) return widen(head[p.c]);
  const bool is_second = layout.interleaved ? p.c % 2 == 1 : p.c >= layout.half;
  const int pair = layout.interleaved ? p.c / 2 : p.c % layout.half;
  const int first = layout.interleaved ? 2 * pair : pair;
  const int second = layout.interleaved ? first + 1 : pair + layout.half;
  const int64_t at = p.b * angles.batch_stride + p.t * layout.half + pair;
  const float scale = angles.scale ? angles.scale[at] : 1;
  const float cos = angles.cos[at] * scale;
  const float sin = kIsBack ? -angles.sin[at] * scale : angles.sin[at] * scale;
  const float a = widen(head[first]), b = widen(head[second]);
  return is_second ? turned_second(a, b, cos, sin) : turned_first(a, b, cos, sin);
}

// q, k and v by head, and the far copies, of gradients or values; null when there are none.
template <class T>
struct Pointers {
  T *q, *k, *v, *far_q = nullptr, *far_k = nullptr;
};

template <class T>
__global__ void split_heads_kernel(Layout layout, AllAngles angles, const T* qkv, Pointers<T> to) {
  const int64_t i = thread_index();
  if (i >= layout.n_elements) return;
  const Place p = layout.place(i);
  const T* const q = qkv + layout.row(p);
  const T* const k = q + layout.head_dim;
  to.q[i] = narrow<T>(turned<false>(q, layout, angles.q, p));
  to.k[i] = narrow<T>(turned<false>(k, layout, angles.k, p));
  to.v[i] = k[layout.head_dim + p.c];
  if (!to.far_q) return;
  to.far_q[i] = narrow<T>(turned<false>(q, layout, angles.far_q, p));
  to.far_k[i] = narrow<T>(turned<false>(k, layout, angles.far_k, p));
}

template <class T>
__global__ void split_heads_backward_kernel(Layout layout, AllAngles angles, Pointers<const T> from,
                                            T* dqkv) {
  const int64_t i = thread_index();
  if (i >= layout.n_elements) return;
  const Place p = layout.place(i);
  const int64_t head = i - p.c;
  float dq = turned<true>(from.q + head, layout, angles.q, p);
  float dk = turned<true>(from.k + head, layout, angles.k, p);
  if (from.far_q) {  // summed before they are rounded
    dq += turned<true>(from.far_q + head, layout, angles.far_q, p);
    dk += turned<true>(from.far_k + head, layout, angles.far_k, p);
  }
  T* const to = dqkv + layout.row(p) + p.c;
  to[0] = narrow<T>(dq);
  to[layout.head_dim] = narrow<T>(dk);
  to[2 * layout.head_dim] = from.v[i];
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

}  // namespace

void split_heads_forward(Cuda device, const Tensor& qkv, const Rotation& rotation, Heads& heads) {
  if (qkv.numel() == 0) return;
  const Layout layout(heads.q.shape(), rotation);
  dispatch_device_float(qkv.dtype(), [&](auto type) {
    using T = decltype(type);
    launch(split_heads_kernel<T>, blocks_for(layout.n_elements), kThreads, 0, stream_of(device),
           layout, AllAngles(rotation), qkv.data<T>(), pointers<T>(heads));
  });
}

void split_heads_backward(Cuda device, const Heads& dheads, const Rotation& rotation,
                          Tensor& dqkv) {
  if (dqkv.numel() == 0) return;
  const Layout layout(dheads.q.shape(), rotation);
  dispatch_device_float(dqkv.dtype(), [&](auto type) {
    using T = decltype(type);
    launch(split_heads_backward_kernel<T>, blocks_for(layout.n_elements), kThreads, 0,
           stream_of(device), layout, AllAngles(rotation), pointers<const T>(dheads),
           dqkv.data<T>());
  });
}

}  // namespace farfield
