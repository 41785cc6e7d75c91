// oneDNN as the library of matrix products: float32, and bfloat16 on processors for which it has
// kernels.

#include <dlfcn.h>
#include <oneapi/dnnl/dnnl_debug.h>
#include <sys/mman.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>
#include <tuple>
#include <vector>

#include "engine/cpu/gemm/library.h"

#if DNNL_CPU_THREADING_RUNTIME != DNNL_RUNTIME_OMP && DNNL_CPU_THREADING_RUNTIME != DNNL_RUNTIME_SEQ
#error \
    "a oneDNN with its own thread pool cannot be kept to one thread per call: configure with -DCMAKE_DISABLE_FIND_PACKAGE_OneDNN=ON"
#endif

namespace farfield {
namespace {

// Keeps oneDNN to the calling thread while one lives. The number is one per thread for OpenMP, and
// is fixed in a primitive when that is made. The functions are looked up in the OpenMP that oneDNN
// itself was linked with, whatever compiler builds this.
class OneThread {
 public:
  OneThread() {
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
    before_ = openmp().get();
    if (before_ != 1) openmp().set(1);
#endif
  }
  ~OneThread() {
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
    if (before_ != 1) openmp().set(before_);
#endif
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
  struct OpenMp {
    int (*get)();
    void (*set)(int);
  };
  static const OpenMp& openmp() {
    static const OpenMp functions = [] {
      const OpenMp found{
          reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads")),
          reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))};
      require<BackendError>(found.get != nullptr && found.set != nullptr, "gemm",
                            "expected the OpenMP of oneDNN among the loaded libraries, found none; "
                            "build with -DCMAKE_DISABLE_FIND_PACKAGE_OneDNN=ON");
      return found;
    }();
    return functions;
  }
  int before_ = 1;
#endif
};

using dnnl::memory;

dnnl::engine& cpu_engine() {
  static dnnl::engine instance(dnnl::engine::kind::cpu, 0);
  return instance;
}

memory::data_type type_of(DType dtype) {
  return dtype == DType::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
}

// [rows, columns] as op() leaves them, from buffer rows of `ld` elements
memory::desc matrix(int64_t rows, int64_t columns, bool transposed, int64_t ld, DType dtype) {
  return {{rows, columns}, type_of(dtype), transposed ? memory::dims{1, ld} : memory::dims{ld, 1}};
}

// oneDNN generates the code of its kernels without checking its memory, and dies of SIGSEGV without
// memory: so require several times its need, which is 6 MiB of addresses for the first product.
void require_room_for_code() {
  constexpr size_t kRoom = size_t{32} << 20;
  void* const room =
      ::mmap(nullptr, kRoom, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  ::munmap(room, kRoom);
}

dnnl::matmul::primitive_desc describe(const Gemm& p) {
  require_room_for_code();
  const auto a = matrix(p.m, p.k, p.transpose_a, p.lda, p.in);
  const auto b = matrix(p.k, p.n, p.transpose_b, p.ldb, p.in);
  const auto c = matrix(p.m, p.n, false, p.ldc, p.out);
  dnnl::primitive_attr attributes;
  // A scratchpad of the library belongs to the thread that made the primitive; ours, to the caller.
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (p.accumulate) {
    dnnl::post_ops sum;
    sum.append_sum(1);
    attributes.set_post_ops(sum);
  }
#if DNNL_VERSION_MAJOR >= 3
  return {cpu_engine(), a, b, c, attributes};
#else
  return {dnnl::matmul::desc(a, b, c), attributes, cpu_engine()};
#endif
}

// f(), with what oneDNN says of memory as everybody else says it.
template <class F>
decltype(auto) with_memory(const F& f) {
  try {
    return f();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw std::bad_alloc();
    throw;
  }
}

// The name of the kernel for a product; empty when there is none.
std::string kernel_for(const Gemm& p) {
  try {
    return with_memory([&] { return std::string(describe(p).impl_info_str()); });
  } catch (const dnnl::error& error) {
    if (error.status != dnnl_unimplemented) throw;
    return {};
  }
}

// A product ready to run on one thread: making one costs up to a millisecond, running it a few
// microseconds more than the arithmetic.
struct Ready {
  dnnl::matmul primitive;
  memory::desc a, b, c, scratchpad;
};

using Key = std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, bool, bool, bool,
                       DType, DType>;

// State of each thread, so that nothing here needs a lock.
struct ThreadState {
  static constexpr size_t kMostProducts = 512;  // a model has some dozens

  dnnl::stream stream{cpu_engine()};
  std::map<Key, Ready> products;
  std::vector<std::byte> scratchpad;

  const Ready& ready(const Gemm& p) {
    const Key key{p.m,           p.n,           p.k,          p.lda, p.ldb, p.ldc,
                  p.transpose_a, p.transpose_b, p.accumulate, p.in,  p.out};
    if (const auto found = products.find(key); found != products.end()) return found->second;
    if (products.size() >= kMostProducts) products.clear();
    const auto description = describe(p);
    Ready made{dnnl::matmul(description), description.src_desc(), description.weights_desc(),
               description.dst_desc(), description.scratchpad_desc()};
    // Without memory for its code a primitive is null, and that is called a success.
    if (made.primitive.get(/*allow_empty=*/true) == nullptr) throw std::bad_alloc();
    return products.emplace(key, std::move(made)).first->second;
  }
};

void run(const Gemm& p) {
  thread_local ThreadState state;
  const OneThread one_thread;
  const Ready& ready = state.ready(p);
  constexpr size_t kAlignment = 64;
  const size_t needed = ready.scratchpad.get_size() + kAlignment;
  if (state.scratchpad.size() < needed) state.scratchpad.resize(needed);
  void* scratchpad = state.scratchpad.data();
  size_t space = state.scratchpad.size();
  std::align(kAlignment, needed - kAlignment, scratchpad, space);
  ready.primitive.execute(
      state.stream, {{DNNL_ARG_SRC, memory(ready.a, cpu_engine(), const_cast<void*>(p.a))},
                     {DNNL_ARG_WEIGHTS, memory(ready.b, cpu_engine(), const_cast<void*>(p.b))},
                     {DNNL_ARG_DST, memory(ready.c, cpu_engine(), p.c)},
                     {DNNL_ARG_SCRATCHPAD, memory(ready.scratchpad, cpu_engine(), scratchpad)}});
  state.stream.wait();
}

void product(const Gemm& p) {
  try {
    with_memory([&] { run(p); });
  } catch (const dnnl::error& error) {
    fail<BackendError>("gemm", "oneDNN: ", error.what(), " in a product of ", p.m, " x ", p.k,
                       " and ", p.k, " x ", p.n, ", ", p.in);
  }
}

bool takes_f32(DType in, DType out) { return in == DType::f32 && out == DType::f32; }
bool takes_bf16_too(DType in, DType out) {
  return takes_f32(in, out) || (in == DType::bf16 && (out == DType::f32 || out == DType::bf16));
}

// Whether it has more than plain loops, which are far slower than widening to float32.
bool has_bf16_kernel() {
  Gemm probe{.m = 32, .n = 32, .k = 32, .lda = 32, .ldb = 32, .ldc = 32, .in = DType::bf16};
  const std::string kernel = kernel_for(probe);
  return !kernel.empty() && !kernel.starts_with("ref");
}

// The user's limit for oneDNN, from the variable that oneDNN reads.
std::string user_limit() {
  for (const char* name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"})
    if (const char* text = std::getenv(name); text != nullptr && *text != 0) return text;
  return {};
}

// "avx512_core_amx". Asking fixes the limit.
std::string instruction_set_in_use() {
  std::string_view name = dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa());
  constexpr std::string_view kPrefix = "cpu_isa_";
  if (name.substr(0, kPrefix.size()) == kPrefix) name.remove_prefix(kPrefix.size());
  return std::string(name);
}

}  // namespace

GemmLibrary onednn_library(const CpuFeatures& features) {
  const dnnl_version_t* version = dnnl_version();
  InstructionChoice choice = choose_instructions(features, user_limit());
  // Before anything else is asked of oneDNN: the first primitive fixes its instruction set. If
  // oneDNN has no such limits, or other code in this process has set one, products of bfloat16 are
  // widened all the same, and no other products use tiles.
  if (choice.hold_below_amx) dnnl_set_max_cpu_isa(dnnl_cpu_isa_avx512_core_bf16);
  const OneThread one_thread;
  if (choice.bf16 && !has_bf16_kernel()) {
    choice.bf16 = false;
    choice.why_widened = "oneDNN has no kernel for them here";
  }
  GemmLibrary library;
  library.name = concat("oneDNN ", version->major, '.', version->minor, '.', version->patch);
  library.takes = choice.bf16 ? takes_bf16_too : takes_f32;
  library.product = product;
  library.instruction_set = instruction_set_in_use();
  library.bf16 = choice.bf16 ? "by oneDNN" : "widened to float32: " + choice.why_widened;
  return library;
}

}  // namespace farfield
