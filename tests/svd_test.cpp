#include "kernels/math/svd.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <chrono>
#include <cmath>
#include <iostream>
#include <limits>
#include <type_traits>
#include <vector>

#include "runtime/device_array.hpp"
#include "runtime/launch.hpp"
#include "tests/kernels/math_kernels.hpp"

namespace ductile::test {
namespace {

// A multiple of the kinds of matrices, but not of a large power of two: planes would fall on the same cache lines.
constexpr std::size_t batch = 66000;
constexpr std::size_t many_batches = 16, few_batches = 4;  // 1,056,000 and 264,000 matrices

/// Residuals are formed with more digits than the results have, so that they show the errors of these alone.
template <class Real>
struct Wide {
  using Number = std::conditional_t<std::is_same_v<Real, float>, double, long double>;
  using Matrix = Eigen::Matrix<Number, 3, 3>;
  using Vector = Eigen::Matrix<Number, 3, 1>;

  static Matrix of(const Mat3<Real>& a) {
    return Eigen::Map<const Eigen::Matrix<Real, 3, 3, Eigen::RowMajor>>(a.m).template cast<Number>();
  }
  static Vector of(const Vec3<Real>& a) { return {a.x, a.y, a.z}; }
};

/// The largest of many errors, in rounding units, and where it occurred.
struct Worst {
  double error = 0;
  std::size_t index = 0;

  template <class Number>
  void note(Number value, std::size_t i) {
    const auto figure = static_cast<double>(value);
    if (figure <= error) return;  // false for NaN
    error = std::isnan(figure) ? std::numeric_limits<double>::infinity() : figure;
    index = i;
  }
};

#define EXPECT_WITHIN(worst, bound)                                                              \
  EXPECT_LE((worst).error, bound) << "rounding units, for matrix " << (worst).index << ", kind " \
                                  << (worst).index % matrix_kinds

template <class Real>
class Decompositions : public testing::Test {
 protected:
  using Number = typename Wide<Real>::Number;
  using Matrix = typename Wide<Real>::Matrix;
  static constexpr Number unit = std::numeric_limits<Real>::epsilon();

  void SetUp() override {
    if (std::is_same_v<Real, double> && !queue.device().double_precision) GTEST_SKIP() << "no double precision";
  }
  static Number relative(const Matrix& residual, const Matrix& to) {
    const Number size = to.norm();
    return size > 0 ? residual.norm() / size / unit : residual.norm() / unit;
  }
  /// Distance of a matrix from the rotations; a reflection is 2 away.
  static Number distance_from_rotations(const Matrix& q) {
    return std::max((q.transpose() * q - Matrix::Identity()).norm(), std::abs(q.determinant() - 1)) / unit;
  }
  template <class Kernel>
  std::vector<Mat3<Real>> sample(std::size_t first) {
    launch(queue, "test.sample", batch, Kernel{first, matrices.data()});
    return matrices.download();
  }

  Queue queue;
  DeviceArray<Mat3<Real>> matrices{queue, batch};
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(Decompositions, Precisions);

template <class Real>
struct SvdErrors {
  using Number = typename Wide<Real>::Number;
  Worst left, right, reconstruction, order, sign, values;

  /// Every 61st matrix, so that all kinds take part, against Eigen's Jacobi iteration in the wider type.
  void compare(const typename Wide<Real>::Matrix& a, const Vec3<Real>& s, std::size_t i) {
    constexpr Number unit = std::numeric_limits<Real>::epsilon();
    if (i % 61 != 0 || a.norm() == 0) return;
    const Eigen::JacobiSVD<typename Wide<Real>::Matrix> reference(a);
    const typename Wide<Real>::Vector found = Wide<Real>::of(s).cwiseAbs();
    values.note((found - reference.singularValues()).norm() / reference.singularValues()[0] / unit, i);
  }
  void print(const char* form) const {
    std::cout << "  svd, " << (sizeof(Real) == 4 ? "single" : "double") << ", " << form
              << ", worst errors in rounding units: orthogonality of U " << left.error << ", of V " << right.error
              << "; U s V^T - A " << reconstruction.error << "; singular values against Eigen " << values.error << "\n";
  }
  void expect() const {
    // A column of U or V is the result of about 20 roundings of half a unit, not all in the same direction; the norm
    // collects nine entries. Observed: 8.
    EXPECT_WITHIN(left, 12);
    EXPECT_WITHIN(right, 12);
    // The first row of the reduced matrix, dropped, is the residual of an eigenvector of A^T A: about 3 units. The
    // orthogonality errors of U and V come on top. Observed: 5.
    EXPECT_WITHIN(reconstruction, 8);
    // Weyl: singular values are no farther off than the decomposition is.
    EXPECT_WITHIN(values, 8);
    EXPECT_WITHIN(order, 0);
    EXPECT_WITHIN(sign, 0);
  }
};

template <class Real>
void measure(SvdErrors<Real>& errors, const Mat3<Real>& matrix, const Svd<Real>& f, std::size_t i) {
  using W = Wide<Real>;
  using Number = typename W::Number;
  constexpr Number unit = std::numeric_limits<Real>::epsilon();
  const auto a = W::of(matrix), u = W::of(f.U), v = W::of(f.V);
  const auto distance = [](const typename W::Matrix& q) {
    return std::max((q.transpose() * q - W::Matrix::Identity()).norm(), std::abs(q.determinant() - 1)) / unit;
  };
  const Number size = a.norm() > 0 ? a.norm() : Number(1);
  errors.left.note(distance(u), i);
  errors.right.note(distance(v), i);
  errors.reconstruction.note((u * W::of(f.s).asDiagonal() * v.transpose() - a).norm() / size / unit, i);
  const bool ordered = f.s.x >= f.s.y && f.s.y >= std::abs(f.s.z);
  errors.order.note(ordered ? 0 : 1, i);
  // The sign of the smallest value is that of the determinant wherever rounding cannot have made it.
  const Number determinant = (a / size).determinant();
  const bool decided = std::abs(f.s.z) > 8 * unit * size && std::abs(determinant) > Number(1e-13);
  errors.sign.note(decided && (determinant < 0) != (f.s.z < 0) ? 1 : 0, i);
  errors.compare(a, f.s, i);
}

TYPED_TEST(Decompositions, SvdOfEveryKindOfMatrixIsAccurate) {
  using Real = TypeParam;
  DeviceArray<Svd<Real>> results(this->queue, batch);
  SvdErrors<Real> errors;
  for (std::size_t k = 0; k < many_batches; ++k) {
    const auto inputs = this->template sample<SampleMatrices<Real>>(k * batch);
    launch(this->queue, "test.svd", batch, ComputeSvd<Real>{this->matrices.data(), results.data()});
    const auto found = results.download();
    for (std::size_t i = 0; i < batch; ++i) measure(errors, inputs[i], found[i], k * batch + i);
  }
  errors.print("one by one");
  errors.expect();
}

TYPED_TEST(Decompositions, SvdOfPlanesIsAccurateToo) {
  using Real = TypeParam;
  DeviceArray<Real> planes(this->queue, 9 * batch), left(this->queue, 9 * batch), values(this->queue, 3 * batch),
      right(this->queue, 9 * batch);
  const ComputeSvdOfPlanes<Real> kernel{
      {planes.data(), batch}, {left.data(), batch}, {right.data(), batch}, values.data()};
  SvdErrors<Real> errors;
  std::vector<Real> split(9 * batch);
  double fastest = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < few_batches; ++k) {
    const auto inputs = this->template sample<SampleMatrices<Real>>(k * batch);
    for (std::size_t i = 0; i < 9 * batch; ++i) split[i] = inputs[i % batch].m[i / batch];
    planes.upload(split);
    this->queue.wait();
    for (int repetition = 0; repetition < 5; ++repetition) {  // the fastest: other programs use the processor too
      const auto start = std::chrono::steady_clock::now();
      launch(this->queue, "test.svd", batch, kernel);
      this->queue.wait();
      fastest = std::min(fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    const auto u = left.download(), s = values.download(), v = right.download();
    for (std::size_t i = 0; i < batch; ++i) {
      Svd<Real> f{{}, {s[i], s[batch + i], s[2 * batch + i]}, {}};
      for (std::size_t entry = 0; entry < 9; ++entry) {
        f.U.m[entry] = u[entry * batch + i];
        f.V.m[entry] = v[entry * batch + i];
      }
      measure(errors, inputs[i], f, k * batch + i);
    }
  }
  errors.print("vectorised");
  errors.expect();
  const double nanoseconds = fastest * 1e9 / double(batch);
  std::cout << "  " << nanoseconds << " ns per matrix on " << this->queue.threads() << " threads\n";
  this->RecordProperty("nanoseconds_per_matrix", std::to_string(nanoseconds));
}

TYPED_TEST(Decompositions, SvdOfTheIdentityIsExact) {
  using Real = TypeParam;
  // Bodies at rest must stay at rest: no rounding may strain them. Clang fuses other products than GCC, which leaves
  // one rounding unit of double precision.
#ifdef __clang__
  constexpr Real allowed = std::numeric_limits<Real>::epsilon();
#else
  constexpr Real allowed = 0;
#endif
  for (const Real scale : {Real(1), Real(0.5), Real(1024)}) {
    const auto a = scale * Mat3<Real>::identity();
    const Svd<Real> f = svd(a);
    EXPECT_LE(norm(f.s - Vec3<Real>{scale, scale, scale}), 2 * allowed * scale);
    EXPECT_LE(norm(times_transpose(f.U, f.V) - Mat3<Real>::identity()), 2 * allowed);
  }
}

TYPED_TEST(Decompositions, MatricesARoundingUnitAwayFromUniformScalingAreNothingSpecial) {
  using Real = TypeParam;
  // Every deviator of a few rounding units, where the mean of the diagonal is itself rounded by as much.
  SvdErrors<Real> errors;
  Worst vectors, reconstruction;
  std::size_t index = 0;
  for (const Real base : {Real(1), Real(1.25), Real(1.5), Real(1.75), Real(0.1)})
    for (int combination = 0; combination < 4 * 4 * 4 * 8; ++combination, ++index) {
      const auto units = [&](int digit) { return Real(digit - 1) * base * rounding_unit<Real>; };
      auto a = Mat3<Real>::diagonal(
          {base + units(combination & 3), base + units((combination >> 2) & 3), base + units((combination >> 4) & 3)});
      a(0, 1) = a(1, 0) = units(1 + ((combination >> 6) & 1));
      a(0, 2) = a(2, 0) = units(1 + ((combination >> 7) & 1));
      a(1, 2) = a(2, 1) = units(1 + ((combination >> 8) & 1));
      measure(errors, a, svd(a), index);
      const SymmetricEigen<Real> spectrum = symmetric_eigen(a);
      const auto q = Wide<Real>::of(spectrum.vectors), wide = Wide<Real>::of(a);
      vectors.note(this->distance_from_rotations(q), index);
      reconstruction.note(this->relative(q * Wide<Real>::of(spectrum.values).asDiagonal() * q.transpose() - wide, wide),
                          index);
    }
  errors.expect();
  // As for all other matrices.
  EXPECT_WITHIN(vectors, 12);
  EXPECT_WITHIN(reconstruction, 10);
}

TYPED_TEST(Decompositions, SvdEndsForInputThatIsNotFinite) {
  using Real = TypeParam;
  for (const Real bad : {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity()})
    for (std::size_t entry = 0; entry < 9; ++entry) {
      auto a = Mat3<Real>::identity();
      a.m[entry] = bad;
      const Svd<Real> f = svd(a);
      // Kept visible, not repaired.
      EXPECT_FALSE(std::isfinite(f.s.x) && std::isfinite(f.s.y) && std::isfinite(f.s.z));
    }
}

TYPED_TEST(Decompositions, SymmetricEigenOfEveryKindOfMatrixIsAccurate) {
  using Real = TypeParam;
  using W = Wide<Real>;
  DeviceArray<SymmetricEigen<Real>> results(this->queue, batch);
  Worst vectors, reconstruction, order, values;
  for (std::size_t k = 0; k < few_batches; ++k) {
    const auto inputs = this->template sample<SampleSymmetric<Real>>(k * batch);
    launch(this->queue, "test.eigen", batch, ComputeSymmetricEigen<Real>{this->matrices.data(), results.data()});
    const auto found = results.download();
    for (std::size_t i = 0; i < batch; ++i) {
      const std::size_t index = k * batch + i;
      const auto a = W::of(inputs[i]), q = W::of(found[i].vectors);
      const auto d = W::of(found[i].values);
      vectors.note(this->distance_from_rotations(q), index);
      reconstruction.note(this->relative(q * d.asDiagonal() * q.transpose() - a, a), index);
      order.note(d[0] >= d[1] && d[1] >= d[2] ? 0 : 1, index);
      if (index % 61 != 0 || a.norm() == 0) continue;
      const Eigen::SelfAdjointEigenSolver<typename W::Matrix> reference(a / a.norm(), Eigen::EigenvaluesOnly);
      values.note((d / a.norm() - reference.eigenvalues().reverse()).norm() / this->unit, index);
    }
  }
  std::cout << "  symmetric eigenvectors, worst errors in rounding units: orthogonality " << vectors.error
            << "; Q d Q^T - A " << reconstruction.error << "; values against Eigen " << values.error << "\n";
  // As for the singular values; the dropped entries off the diagonal count twice in a symmetric matrix. Observed: 7.
  EXPECT_WITHIN(vectors, 12);
  EXPECT_WITHIN(reconstruction, 10);
  EXPECT_WITHIN(values, 8);
  EXPECT_WITHIN(order, 0);
}

TYPED_TEST(Decompositions, PolarFactorsAreARotationAndTheStretchClosestToIt) {
  using Real = TypeParam;
  using W = Wide<Real>;
  DeviceArray<Polar<Real>> results(this->queue, batch);
  Worst rotation, product, symmetry, stretch;
  const auto inputs = this->template sample<SampleMatrices<Real>>(0);
  launch(this->queue, "test.polar", batch, ComputePolar<Real>{this->matrices.data(), results.data()});
  const auto found = results.download();
  for (std::size_t i = 0; i < batch; ++i) {
    const auto f = W::of(inputs[i]), r = W::of(found[i].R), s = W::of(found[i].S);
    rotation.note(this->distance_from_rotations(r), i);
    product.note(this->relative(r * s - f, f), i);
    symmetry.note((s - s.transpose()).norm(), i);
    if (f.norm() == 0) continue;
    // Of all rotations R is the closest to F exactly if at most one eigenvalue of S is negative, and none is larger.
    const Eigen::SelfAdjointEigenSolver<typename W::Matrix> spectrum(s / f.norm(), Eigen::EigenvaluesOnly);
    stretch.note(-(spectrum.eigenvalues()[0] + spectrum.eigenvalues()[1]) / this->unit, i);
  }
  // U and V with their errors (8 each) and a product: they add up.
  EXPECT_WITHIN(rotation, 24);
  EXPECT_WITHIN(product, 24);
  EXPECT_WITHIN(symmetry, 0);
  EXPECT_WITHIN(stretch, 8);
}

TYPED_TEST(Decompositions, PseudoInverseMeetsThePenroseConditions) {
  using Real = TypeParam;
  using W = Wide<Real>;
  constexpr Real cut = Real(0.01);
  DeviceArray<Mat3<Real>> results(this->queue, batch);
  Worst a_x_a, x_a_x, a_x, x_a;
  std::size_t tested = 0, deficient = 0;
  const auto inputs = this->template sample<SampleMatrices<Real>>(0);
  launch(this->queue, "test.pinv", batch, ComputePseudoInverse<Real>{this->matrices.data(), cut, results.data()});
  const auto found = results.download();
  for (std::size_t i = 0; i < batch; ++i) {
    const auto a = W::of(inputs[i]), x = W::of(found[i]);
    const auto s = Eigen::JacobiSVD<typename W::Matrix>(a).singularValues();
    // The conditions hold for matrices whose small singular values are zero, but for rounding.
    const auto clear = [&](int k) { return s[k] > 2 * cut * s[0] || s[k] <= this->unit * s[0]; };
    if (!clear(1) || !clear(2)) continue;
    ++tested;
    if (s[2] <= this->unit * s[0]) ++deficient;
    a_x_a.note(this->relative(a * x * a - a, a), i);
    x_a_x.note(this->relative(x * a * x - x, x), i);
    a_x.note((a * x - (a * x).transpose()).norm() / this->unit, i);
    x_a.note((x * a - (x * a).transpose()).norm() / this->unit, i);
  }
  EXPECT_GT(tested, batch / 4);
  EXPECT_GT(deficient, batch / 16);
  // An error of 5 units of A is 5 cond(A) units of A X, and the condition of what is kept goes up to 1/0.02.
  const double bound = 5 / (2 * double(cut));
  EXPECT_WITHIN(a_x_a, bound);
  EXPECT_WITHIN(x_a_x, bound);
  EXPECT_WITHIN(a_x, bound);
  EXPECT_WITHIN(x_a, bound);
}

TYPED_TEST(Decompositions, PseudoInverseDropsWhatIsAtOrBelowTheCut) {
  using Real = TypeParam;
  const auto a = Mat3<Real>::diagonal({Real(0.25), Real(-4), Real(2)});
  const auto expect_diagonal = [](const Mat3<Real>& found, Real x, Real y, Real z) {
    EXPECT_LE(norm(found - Mat3<Real>::diagonal({x, y, z})), Real(8) * rounding_unit<Real>);
  };
  expect_diagonal(pseudo_inverse(a, Real(0.0624)), Real(4), Real(-0.25), Real(0.5));
  expect_diagonal(pseudo_inverse(a, Real(0.0626)), Real(0), Real(-0.25), Real(0.5));
  expect_diagonal(pseudo_inverse_absolute(a, Real(0.249)), Real(4), Real(-0.25), Real(0.5));
  expect_diagonal(pseudo_inverse_absolute(a, Real(0.251)), Real(0), Real(-0.25), Real(0.5));
  expect_diagonal(pseudo_inverse_absolute(a, Real(5)), Real(0), Real(0), Real(0));
  expect_diagonal(pseudo_inverse(Mat3<Real>::zero(), Real(0)), Real(0), Real(0), Real(0));
}

}  // namespace
}  // namespace ductile::test
