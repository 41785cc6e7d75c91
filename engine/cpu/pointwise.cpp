#include "engine/kernels/pointwise.h"

#include <algorithm>
#include <cstring>

#include "engine/base/parallel.h"
#include "engine/kernels/broadcast.h"
#include "engine/kernels/functors.h"

namespace farfield {
namespace {

constexpr int64_t kGrain = int64_t{1} << 15;  // elements of a chunk

// An operand of element type T: its elements, or its one element or number.
template <class T>
struct Source {
  const T* data = nullptr;
  Accumulate<T> value = 0;
  bool is_scalar = false;

  explicit Source(const Operand& x) : is_scalar(x.is_number() || x.tensor.numel() == 1) {
    if (x.is_number())
      value = static_cast<Accumulate<T>>(x.number);
    else if (is_scalar)
      value = static_cast<Accumulate<T>>(x.tensor.data<T>()[0]);
    else
      data = x.tensor.data<T>();
  }
};

// Calls body(begin, n, a, b) for pieces [begin, begin + n) of the result that lie in one row. a and
// b are functions from 0..n-1 to the operand's value there: a run of elements or a constant, so
// that each body compiles to plain loops.
template <class T, class Body>
void for_each_run(const Operand& x, const Operand& y, const Shape& shape, const Body& body) {
  using A = Accumulate<T>;
  const Broadcast plan(x.shape(), y.shape(), shape);
  const Source<T> a(x), b(y);
  parallel_chunks(shape.numel(), kGrain, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t row = begin / plan.row, column = begin % plan.row;
      const int64_t n = std::min(end - begin, plan.row - column);
      const T* const from_a = a.is_scalar ? nullptr
                                          : a.data + plan.offset(plan.a, row) +
                                                (plan.a.is_repeated_in_row ? 0 : column);
      const T* const from_b = b.is_scalar ? nullptr
                                          : b.data + plan.offset(plan.b, row) +
                                                (plan.b.is_repeated_in_row ? 0 : column);
      const bool constant_a = a.is_scalar || plan.a.is_repeated_in_row;
      const bool constant_b = b.is_scalar || plan.b.is_repeated_in_row;
      const A value_a = a.is_scalar ? a.value : static_cast<A>(from_a[0]);
      const A value_b = b.is_scalar ? b.value : static_cast<A>(from_b[0]);
      const auto run_a = [from_a](int64_t i) { return static_cast<A>(from_a[i]); };
      const auto run_b = [from_b](int64_t i) { return static_cast<A>(from_b[i]); };
      const auto repeat_a = [value_a](int64_t) { return value_a; };
      const auto repeat_b = [value_b](int64_t) { return value_b; };
      if (!constant_a && !constant_b)
        body(begin, n, run_a, run_b);
      else if (!constant_a)
        body(begin, n, run_a, repeat_b);
      else if (!constant_b)
        body(begin, n, repeat_a, run_b);
      else
        body(begin, n, repeat_a, repeat_b);
      begin += n;
    }
  });
}

}  // namespace

void fill(Cpu, double value, Tensor& x) {
  dispatch_any(x.dtype(), [&](auto type) {
    using T = decltype(type);
    T* const data = x.data<T>();
    parallel_chunks(x.numel(), kGrain, [&](int64_t begin, int64_t end) {
      std::fill(data + begin, data + end, static_cast<T>(value));
    });
  });
}

void copy_bytes(Cpu, const Tensor& x, Tensor& y) {
  const auto* from = static_cast<const char*>(x.raw_data());
  auto* to = static_cast<char*>(y.raw_data());
  parallel_chunks(x.size_bytes(), kGrain * 8, [&](int64_t begin, int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
  });
}

void cast(Cpu, const Tensor& x, Tensor& y) {
  dispatch_any(x.dtype(), [&](auto from_type) {
    dispatch_any(y.dtype(), [&](auto to_type) {
      using From = decltype(from_type);
      using To = decltype(to_type);
      const From* const from = x.data<From>();
      To* const to = y.data<To>();
      parallel_chunks(x.numel(), kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if constexpr (std::is_same_v<From, BFloat16> || std::is_same_v<To, BFloat16>)
            to[i] = static_cast<To>(static_cast<float>(from[i]));
          else
            to[i] = static_cast<To>(from[i]);
        }
      });
    });
  });
}

void add_in_place(Cpu, const Tensor& x, Tensor& y) {
  dispatch_float(y.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    const T* const from = x.data<T>();
    T* const to = y.data<T>();
    parallel_chunks(x.numel(), kGrain, [&](int64_t begin, int64_t end) {
      const auto add = [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i)
          to[i] = static_cast<T>(static_cast<A>(to[i]) + static_cast<A>(from[i]));
      };
      // At four places in turn: a core reads from several pages faster than from one.
      constexpr int64_t kPlaces = 4, kLine = 64 / static_cast<int64_t>(sizeof(T));
      const int64_t part = (end - begin) / kPlaces / kLine * kLine;
      for (int64_t i = begin; i < begin + part; i += kLine)
        for (int64_t place = 0; place < kPlaces; ++place)
          add(i + place * part, i + place * part + kLine);
      add(begin + kPlaces * part, end);
    });
  });
}

void scale_in_place(Cpu, double factor, Tensor& x) {
  dispatch_float(x.dtype(), [&](auto type) {
    using T = decltype(type);
    using A = Accumulate<T>;
    T* const data = x.data<T>();
    parallel_chunks(x.numel(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        data[i] = static_cast<T>(static_cast<A>(data[i]) * static_cast<A>(factor));
    });
  });
}

void scale_in_place(Cpu device, const Tensor& factor, Tensor& x) {
  if (const double value = factor.item(); value != 1) scale_in_place(device, value, x);
}

void unary_forward(Cpu, UnaryOp op, const Tensor& x, Tensor& y) {
  visit_functor(UnaryFunctors{}, op, [&](auto f) {
    dispatch_float(x.dtype(), [&](auto type) {
      using T = decltype(type);
      using A = Accumulate<T>;
      const T* const from = x.data<T>();
      T* const to = y.data<T>();
      parallel_chunks(x.numel(), kGrain, [&](int64_t begin, int64_t end) {
        const T* __restrict in = from + begin;
        T* __restrict out = to + begin;
        for (int64_t i = 0; i < end - begin; ++i) out[i] = static_cast<T>(f(static_cast<A>(in[i])));
      });
    });
  });
}

void unary_backward(Cpu, UnaryOp op, const Tensor& x, const Tensor& y, const Tensor& dy,
                    Tensor& dx) {
  visit_functor(UnaryFunctors{}, op, [&](auto f) {
    dispatch_float(dy.dtype(), [&](auto type) {
      using T = decltype(type);
      using A = Accumulate<T>;
      const T *const x_data = x.data<T>(), *const y_data = y.data<T>(),
                     *const dy_data = dy.data<T>();
      T* const dx_data = dx.data<T>();
      parallel_chunks(dy.numel(), kGrain, [&](int64_t begin, int64_t end) {
        // kept: what f.grad() reads, the other may be anything
        const T* __restrict kept = (f.kKeeps == Keeps::output ? y_data : x_data) + begin;
        const T* __restrict in = dy_data + begin;
        T* __restrict out = dx_data + begin;
        for (int64_t i = 0; i < end - begin; ++i) {
          const A value = static_cast<A>(kept[i]);
          out[i] = static_cast<T>(static_cast<A>(in[i]) * f.grad(value, value));
        }
      });
    });
  });
}

void binary_forward(Cpu, BinaryOp op, const Operand& a, const Operand& b, Tensor& y) {
  visit_functor(BinaryFunctors{}, op, [&](auto f) {
    dispatch_float(y.dtype(), [&](auto type) {
      using T = decltype(type);
      T* const to = y.data<T>();
      for_each_run<T>(a, b, y.shape(), [&](int64_t begin, int64_t n, auto from_a, auto from_b) {
        T* const out = to + begin;
        for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(f(from_a(i), from_b(i)));
      });
    });
  });
}

void binary_backward(Cpu, BinaryOp op, const Operand& a, const Operand& b, const Tensor& dy,
                     Tensor& da, Tensor& db) {
  visit_functor(BinaryFunctors{}, op, [&](auto f) {
    dispatch_float(dy.dtype(), [&](auto type) {
      using T = decltype(type);
      using A = Accumulate<T>;
      const T* const from = dy.data<T>();
      T* const to_a = da.defined() ? da.data<T>() : nullptr;
      T* const to_b = db.defined() ? db.data<T>() : nullptr;
      for_each_run<T>(a, b, dy.shape(), [&](int64_t begin, int64_t n, auto from_a, auto from_b) {
        const T* const in = from + begin;
        if (to_a != nullptr) {
          T* const out = to_a + begin;
          for (int64_t i = 0; i < n; ++i)
            out[i] = static_cast<T>(static_cast<A>(in[i]) * f.grad_a(from_a(i), from_b(i)));
        }
        if (to_b != nullptr) {
          T* const out = to_b + begin;
          for (int64_t i = 0; i < n; ++i)
            out[i] = static_cast<T>(static_cast<A>(in[i]) * f.grad_b(from_a(i), from_b(i)));
        }
      });
    });
  });
}

}  // namespace farfield
