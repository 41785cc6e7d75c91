// Products that the emulated library refuses, as NVIDIA's does.

#include <boost/test/unit_test.hpp>
#include <vector>

#include "tests/support/cuda/cublas_lt.h"
#include "tests/support/cuda/device_array.h"

namespace farfield {
BOOST_AUTO_TEST_SUITE(test_cublas_lt)
namespace {

// 2, 3 and 4 in its columns.
std::vector<float> columns_of_b() {
  std::vector<float> b;
  for (const float value : {2.0f, 3.0f, 4.0f}) b.insert(b.end(), 32, value);
  return b;
}

// d [2, 3] = a [2, 32] b [32, 3], column-major float32, with an algorithm for it.
struct Product {
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t a_layout = nullptr, b_layout = nullptr, d_layout = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulHeuristicResult_t found = {};
  DeviceArray<float> a{std::vector<float>(66, 1)}, b{columns_of_b()}, d{8, 0.0f};
  DeviceArray<float> bias{std::vector<float>{10, 20}};
  DeviceArray<char> workspace{4096};

  explicit Product(cublasComputeType_t compute = CUBLAS_COMPUTE_32F) {
    cublasLtCreate(&handle);
    cublasLtMatmulDescCreate(&product, compute, CUDA_R_32F);
    cublasLtMatrixLayoutCreate(&a_layout, CUDA_R_32F, 2, 32, 2);
    cublasLtMatrixLayoutCreate(&b_layout, CUDA_R_32F, 32, 3, 32);
    cublasLtMatrixLayoutCreate(&d_layout, CUDA_R_32F, 2, 3, 2);
    cublasLtMatmulPreferenceCreate(&preference);
    const uint64_t most_bytes = 4096;
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &most_bytes, sizeof most_bytes);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  ~Product() {
    cublasLtMatmulPreferenceDestroy(preference);
    for (const auto layout : {a_layout, b_layout, d_layout}) cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(product);
    cublasLtDestroy(handle);
  }

  void set_bias(const void* pointer, uint32_t epilogue = CUBLASLT_EPILOGUE_BIAS) {
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                   sizeof epilogue);
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &pointer,
                                   sizeof pointer);
  }
  // Stores b transposed, and says so: the same product.
  void transpose_b() {
    const int32_t transpose = CUBLAS_OP_T;
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_TRANSB, &transpose,
                                   sizeof transpose);
    cublasLtMatrixLayoutDestroy(b_layout);
    cublasLtMatrixLayoutCreate(&b_layout, CUDA_R_32F, 3, 32, 3);
  }
  void set_bias_type(cudaDataType_t type) {
    const int32_t value = type;
    cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &value,
                                   sizeof value);
  }
  cublasStatus_t search() {
    int n_found = 0;
    return cublasLtMatmulAlgoGetHeuristic(handle, product, a_layout, b_layout, d_layout, d_layout,
                                          preference, 1, &found, &n_found);
  }
  cublasStatus_t run(const float* from_a, void* work, size_t work_bytes) {
    const float one = 1, zero = 0;
    return cublasLtMatmul(handle, product, &one, from_a, a_layout, b.data(), b_layout, &zero,
                          d.data(), d_layout, d.data(), d_layout, &found.algo, work, work_bytes,
                          nullptr);
  }
  cublasStatus_t run() { return run(a.data(), workspace.data(), found.workspaceSize); }
};

BOOST_AUTO_TEST_CASE(a_product_with_bias_is_computed) {
  Product p;
  p.set_bias(p.bias.data());
  BOOST_TEST(p.search() == CUBLAS_STATUS_SUCCESS);
  BOOST_TEST(p.run() == CUBLAS_STATUS_SUCCESS);
  const std::vector<float> got = p.d.values(), want{74, 84, 106, 116, 138, 148, 0, 0};
  BOOST_TEST(got == want, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_bias_must_be_there) {
  Product p;
  p.set_bias(nullptr);
  BOOST_TEST(p.search() == CUBLAS_STATUS_SUCCESS);
  BOOST_TEST(p.run() == CUBLAS_STATUS_INVALID_VALUE);
}

BOOST_AUTO_TEST_CASE(rows_of_a_and_columns_of_b_are_summed) {
  Product p;
  DeviceArray<float> sums(std::vector<float>(4, 7));
  p.set_bias(sums.data(), CUBLASLT_EPILOGUE_BGRADA);
  BOOST_TEST(p.search() == CUBLAS_STATUS_SUCCESS);
  BOOST_TEST(p.run() == CUBLAS_STATUS_SUCCESS);
  const std::vector<float> product{64, 64, 96, 96, 128, 128, 0, 0}, of_a{32, 32, 7, 7};
  BOOST_TEST(p.d.values() == product, boost::test_tools::per_element());
  BOOST_TEST(sums.values() == of_a, boost::test_tools::per_element());

  Product transposed;
  std::vector<float> b;  // 2, 3, 4 and again
  for (int i = 0; i < 96; ++i) b.push_back(static_cast<float>(2 + i % 3));
  const DeviceArray<float> other_b(b);
  cudaMemcpyAsync(transposed.b.data(), other_b.data(), other_b.size_bytes(),
                  cudaMemcpyDeviceToDevice, nullptr);
  transposed.transpose_b();
  transposed.set_bias(sums.data(), CUBLASLT_EPILOGUE_BGRADB);
  BOOST_TEST(transposed.search() == CUBLAS_STATUS_SUCCESS);
  BOOST_TEST(transposed.run() == CUBLAS_STATUS_SUCCESS);
  const std::vector<float> of_b{64, 96, 128, 7};
  BOOST_TEST(transposed.d.values() == product, boost::test_tools::per_element());
  BOOST_TEST(sums.values() == of_b, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_factor_is_summed_only_as_the_library_does) {
  Product p;
  p.set_bias(p.bias.data(), CUBLASLT_EPILOGUE_BGRADB);
  BOOST_TEST(p.search() == CUBLAS_STATUS_NOT_SUPPORTED);  // of B as it is stored here
  p.transpose_b();
  BOOST_TEST(p.search() == CUBLAS_STATUS_SUCCESS);
  BOOST_TEST(p.run() == CUBLAS_STATUS_INVALID_VALUE);  // its 3 sums are more than there is room for
  DeviceArray<float> sums(8);
  p.set_bias(sums.data() + 1, CUBLASLT_EPILOGUE_BGRADB);
  BOOST_TEST(p.run() == CUBLAS_STATUS_INVALID_VALUE);  // chosen for a better aligned one
  BOOST_TEST(p.search() == CUBLAS_STATUS_SUCCESS);
  BOOST_TEST(p.run() == CUBLAS_STATUS_SUCCESS);
  std::vector<float> host(8);
  for (float* const pointer : {static_cast<float*>(nullptr), host.data()}) {
    p.set_bias(pointer, CUBLASLT_EPILOGUE_BGRADB);
    BOOST_TEST(p.search() == CUBLAS_STATUS_SUCCESS);
    BOOST_TEST(p.run() == CUBLAS_STATUS_INVALID_VALUE);
  }
  p.set_bias_type(CUDA_R_32F);
  BOOST_TEST(p.search() == CUBLAS_STATUS_SUCCESS);
  p.set_bias_type(CUDA_R_16BF);
  BOOST_TEST(p.search() == CUBLAS_STATUS_NOT_SUPPORTED);
}

BOOST_AUTO_TEST_CASE(a_workspace_must_be_large_enough_and_on_the_device) {
  Product p;
  BOOST_TEST(p.search() == CUBLAS_STATUS_SUCCESS);
  BOOST_TEST(p.found.workspaceSize > 0u);
  std::vector<char> host(4096);
  BOOST_TEST(p.run(p.a.data(), nullptr, p.found.workspaceSize) == CUBLAS_STATUS_INVALID_VALUE);
  BOOST_TEST(p.run(p.a.data(), host.data(), host.size()) == CUBLAS_STATUS_INVALID_VALUE);
  BOOST_TEST(p.run(p.a.data(), p.workspace.data(), p.found.workspaceSize - 1) ==
             CUBLAS_STATUS_INVALID_VALUE);
  BOOST_TEST(p.run(p.a.data(), p.workspace.data(), 4096) == CUBLAS_STATUS_SUCCESS);
}

BOOST_AUTO_TEST_CASE(arrays_must_be_aligned_as_was_said) {
  Product p;
  BOOST_TEST(p.search() == CUBLAS_STATUS_SUCCESS);
  BOOST_TEST(p.run(p.a.data() + 2, p.workspace.data(), 4096) == CUBLAS_STATUS_INVALID_VALUE);
  const uint32_t aligned_to = 8;
  cublasLtMatmulPreferenceSetAttribute(p.preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                                       &aligned_to, sizeof aligned_to);
  BOOST_TEST(p.search() == CUBLAS_STATUS_SUCCESS);
  BOOST_TEST(p.run(p.a.data() + 2, p.workspace.data(), 4096) == CUBLAS_STATUS_SUCCESS);
}

BOOST_AUTO_TEST_CASE(an_algorithm_is_for_one_problem) {
  Product p, other;
  BOOST_TEST(p.search() == CUBLAS_STATUS_SUCCESS);
  other.transpose_b();
  BOOST_TEST(other.search() == CUBLAS_STATUS_SUCCESS);
  BOOST_TEST(other.run() == CUBLAS_STATUS_SUCCESS);
  other.found = p.found;
  BOOST_TEST(other.run() == CUBLAS_STATUS_INVALID_VALUE);
}

BOOST_AUTO_TEST_CASE(sizes_must_fit_and_types_be_known) {
  Product p;
  cublasLtMatrixLayoutDestroy(p.b_layout);
  cublasLtMatrixLayoutCreate(&p.b_layout, CUDA_R_32F, 31, 3, 32);
  BOOST_TEST(p.search() == CUBLAS_STATUS_INVALID_VALUE);
  cublasLtMatrixLayoutDestroy(p.b_layout);
  cublasLtMatrixLayoutCreate(&p.b_layout, CUDA_R_32F, 32, 3, 31);
  BOOST_TEST(p.search() == CUBLAS_STATUS_INVALID_VALUE);
  cublasLtMatrixLayoutDestroy(p.b_layout);
  cublasLtMatrixLayoutCreate(&p.b_layout, CUDA_R_16BF, 32, 3, 32);
  BOOST_TEST(p.search() == CUBLAS_STATUS_NOT_SUPPORTED);
  Product tf32(CUBLAS_COMPUTE_32F_FAST_TF32);
  BOOST_TEST(tf32.search() == CUBLAS_STATUS_NOT_SUPPORTED);
}

}  // namespace
BOOST_AUTO_TEST_SUITE_END()
}  // namespace farfield
