#include "apps/analysis/definiteness.h"

#include <Eigen/Dense>
#include <algorithm>
#include <string_view>

#include "engine/base/error.h"

namespace farfield::analysis {

Definiteness definiteness(const std::function<double(double)>& kernel,
                          std::span<const double> points) {
  constexpr std::string_view kWhere = "definiteness";
  const auto n = static_cast<Eigen::Index>(points.size());
  require<ConfigError>(n >= 2, kWhere, "bad_argument: expected at least 2 points, got ", n);
  Eigen::MatrixXd k(n, n);
  for (Eigen::Index i = 0; i < n; ++i)
    for (Eigen::Index j = 0; j <= i; ++j) {
      const double d = std::abs(points[static_cast<size_t>(i)] - points[static_cast<size_t>(j)]);
      const double value = kernel(d);
      require<Error>(std::isfinite(value), kWhere,
                     "nonfinite_kernel: expected finite numbers, got ", value, " at distance ", d);
      k(i, j) = k(j, i) = value;
    }

  // The reflection that takes o to -e_0: its other columns are an orthonormal basis of what is
  // orthogonal to o, so H K H holds a, b and A as blocks. The sign keeps v clear of cancellation.
  Eigen::VectorXd v = Eigen::VectorXd::Constant(n, 1 / std::sqrt(static_cast<double>(n)));
  v(0) += 1;
  v.normalize();
  const Eigen::VectorXd kv = k * v;
  const double vkv = v.dot(kv);
  const Eigen::MatrixXd reflected =
      k - 2 * (v * kv.transpose() + kv * v.transpose()) + 4 * vkv * (v * v.transpose());
  const double a = reflected(0, 0);
  const Eigen::VectorXd b = reflected.col(0).tail(n - 1);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      reflected.bottomRightCorner(n - 1, n - 1));
  require<BackendError>(solver.info() == Eigen::Success, kWhere, "expected the eigenvalues of ",
                        n - 1, " points, but they did not converge");

  Definiteness result;
  result.smallest_eigenvalue = solver.eigenvalues()(0);
  result.tolerance = 1e-9 * static_cast<double>(n) * k.cwiseAbs().maxCoeff();
  if (result.smallest_eigenvalue < -result.tolerance) return result;
  result.verdict = Verdict::boundary;
  if (result.smallest_eigenvalue <= result.tolerance) {
    result.smallest_eigenvalue = 0;  // the rest is rounding, which differs between machines
    return result;
  }
  result.verdict = Verdict::cpd;
  // b' A^-1 b in the basis where A is diagonal
  const Eigen::VectorXd along = solver.eigenvectors().transpose() * b;
  const double form = (along.array().square() / solver.eigenvalues().array()).sum();
  result.smallest_shift = std::max(0.0, (form - a) / static_cast<double>(n));
  // On smallest_shift itself, not on eigenvalues of c + K: a tolerance that grows with c would
  // accept any kernel in the end.
  result.searched_shift = 0;
  while (result.searched_shift < (1 - 1e-9) * result.smallest_shift)
    result.searched_shift = result.searched_shift == 0 ? 1 : 2 * result.searched_shift;
  return result;
}

}  // namespace farfield::analysis
