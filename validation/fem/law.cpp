#include "validation/fem/law.hpp"

#include <fmt/format.h>

#include "common/error.hpp"
#include "kernels/materials/fixed_corotated.hpp"
#include "kernels/materials/hencky.hpp"
#include "kernels/materials/inversion.hpp"
#include "kernels/materials/linear.hpp"
#include "kernels/materials/neo_hookean.hpp"
#include "kernels/materials/stvk.hpp"

namespace ductile::fem {

namespace {

using RowMajor = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

template <class Kernel>
Law wrapped(const Kernel& kernel) {
  return [kernel](const Matrix3d& F) {
    Mat3<double> H;
    Eigen::Map<RowMajor>(H.m) = F - Matrix3d::Identity();
    const auto response = kernel.displacement_response(H);
    return Response{response.energy, Eigen::Map<const RowMajor>(response.stress.m)};
  };
}

}  // namespace

Law make_law(const LawParameters& parameters) {
  const auto [mu, lambda] = Lame<double>::from(parameters.youngs_modulus, parameters.poisson_ratio);
  const double critical = parameters.inversion_below;
  if (parameters.model == "linear") return wrapped(Linear<double>{mu, lambda});
  if (parameters.model == "corotated") return wrapped(Corotated<double>{mu, lambda});
  if (parameters.model == "fixed-corotated") return wrapped(FixedCorotated<double>{mu, lambda});
  if (parameters.model == "stvk") return wrapped(InversionSafe<StVK<double>>{{mu, lambda}, critical});
  if (parameters.model == "neo-hookean") return wrapped(InversionSafe<NeoHookean<double>>{{mu, lambda}, critical});
  if (parameters.model == "hencky") return wrapped(InversionSafe<Hencky<double>>{{mu, lambda}, critical});
  throw InputError(
      fmt::format("\"{}\" is not a law; known are linear, corotated, fixed-corotated, stvk, neo-hookean and hencky.",
                  parameters.model));
}

Matrix9d tangent(const Law& law, const Matrix3d& F) {
  const double step = 1e-5;
  Matrix9d result;
  for (int column = 0; column < 9; ++column) {
    Matrix3d above = F, below = F;
    above(column / 3, column % 3) += step;
    below(column / 3, column % 3) -= step;
    const Matrix3d difference = (law(above).stress - law(below).stress) / (2 * step);
    for (int row = 0; row < 9; ++row) result(row, column) = difference(row / 3, row % 3);
  }
  return (result + result.transpose()) / 2;
}

}  // namespace ductile::fem
