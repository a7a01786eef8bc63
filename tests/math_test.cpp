#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/math/basis.hpp"
#include "kernels/math/mat3.hpp"
#include "kernels/math/scalar.hpp"
#include "kernels/math/scaling.hpp"
#include "kernels/math/vec3.hpp"
#include "runtime/device_array.hpp"
#include "runtime/launch.hpp"
#include "tests/kernels/math_kernels.hpp"

namespace ductile::test {
namespace {

template <class Real>
class SmallAlgebra : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(SmallAlgebra, Precisions);

TYPED_TEST(SmallAlgebra, TypesArePlainValues) {
  using Real = TypeParam;
  static_assert(std::is_trivially_copyable_v<Vec3<Real>> && std::is_aggregate_v<Vec3<Real>>);
  static_assert(std::is_trivially_copyable_v<Mat3<Real>> && std::is_aggregate_v<Mat3<Real>>);
  static_assert(sizeof(Vec3<Real>) == 3 * sizeof(Real) && sizeof(Mat3<Real>) == 9 * sizeof(Real));
  static_assert(sizeof(Vec4<Real>) == 4 * sizeof(Real));
}

TYPED_TEST(SmallAlgebra, IdentitiesHoldOnTheDevice) {
  using Real = TypeParam;
  Queue queue;
  if (std::is_same_v<Real, double> && !queue.device().double_precision) GTEST_SKIP() << "no double precision";
  constexpr std::size_t count = 4096;
  DeviceArray<AlgebraResiduals<Real>> residuals(queue, count);
  launch(queue, "test.algebra", count, MeasureAlgebra<Real>{residuals.data()});
  using Residual = Real AlgebraResiduals<Real>::*;
  using R = AlgebraResiduals<Real>;
  const std::vector<std::pair<const char*, Residual>> identities{
      {"(AB)^T = B^T A^T", &R::product_transpose},
      {"det AB = det A det B", &R::product_determinant},
      {"A A^-1 = I", &R::inverse},
      {"cof(A)^T A = det A I", &R::cofactor},
      {"det(A+D) - det(A-D) = 2 cof A : D + 2 det D", &R::determinant_change},
      {"(u x v) x w = v (u.w) - u (v.w)", &R::triple_product},
      {"|u x v|^2 + (u.v)^2 = |u|^2 |v|^2", &R::lagrange},
      {"(u (x) v) w = u (v.w)", &R::outer},
      {"A : B = tr A^T B", &R::contraction},
      {"A = dev A + tr A/3 I", &R::deviator},
      {"sym A : skew A = 0", &R::symmetric},
      {"A u from columns, A^T u from rows", &R::apply}};
  for (const auto& found : residuals.download()) {
    // Operands are of order one and a result collects at most some 50 products, up to 30 in size (determinants of
    // sums): each rounds by half a unit of itself.
    for (const auto& [name, residual] : identities) ASSERT_LE(found.*residual, Real(64) * rounding_unit<Real>) << name;
    ASSERT_EQ(found.parts, Real(0));
  }
}

TYPED_TEST(SmallAlgebra, EntriesAreWhereTheNamesSay) {
  using Real = TypeParam;
  const Mat3<Real> a{{1, 2, 3, 4, 5, 6, 7, 8, 10}};
  EXPECT_EQ(a(0, 2), Real(3));
  EXPECT_EQ(a(2, 0), Real(7));
  EXPECT_EQ(a.row(1), (Vec3<Real>{4, 5, 6}));
  EXPECT_EQ(a.column(1), (Vec3<Real>{2, 5, 8}));
  EXPECT_EQ(transpose(a).row(2), a.column(2));
  EXPECT_EQ(trace(a), Real(16));
  EXPECT_EQ(determinant(a), Real(-3));
  EXPECT_EQ(squared_norm(a), Real(304));
  EXPECT_EQ((outer(Vec3<Real>{1, 2, 3}, Vec3<Real>{5, 7, 11})(1, 2)), Real(22));
  EXPECT_EQ((Mat3<Real>::diagonal({2, 3, 4}) * Vec3<Real>{1, 1, 1}), (Vec3<Real>{2, 3, 4}));
  Mat3<Real> b = Mat3<Real>::zero();
  b(1, 2) = Real(5);
  EXPECT_EQ(b.m[5], Real(5));
  b += a;
  b -= Real(2) * a;
  b *= Real(-1);
  EXPECT_EQ(b(1, 2), Real(1));
  EXPECT_EQ((-b)(0, 0), Real(-1));
  EXPECT_EQ((b / Real(2))(0, 0), Real(0.5));
}

TYPED_TEST(SmallAlgebra, VectorsIndexAndPad) {
  using Real = TypeParam;
  Vec3<Real> v{1, 2, 3};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(std::as_const(v)[i], Real(i + 1));
    v[i] += Real(10);
  }
  EXPECT_EQ(v, (Vec3<Real>{11, 12, 13}));
  EXPECT_EQ(xyz(padded(v, Real(7))), v);
  EXPECT_EQ(padded(v, Real(7))[3], Real(7));
  EXPECT_EQ(padded(v)[3], Real(0));
  EXPECT_EQ(norm(Vec3<Real>{2, 3, 6}), Real(7));
  v -= Vec3<Real>{1, 2, 3};
  v *= Real(0.5);
  EXPECT_EQ(v, (Vec3<Real>{5, 5, 5}));
  EXPECT_EQ(-v / Real(5) + Real(2) * v, (Vec3<Real>{9, 9, 9}));
}

TYPED_TEST(SmallAlgebra, Scalars) {
  using Real = TypeParam;
  EXPECT_EQ(square(Real(-3)), Real(9));
  EXPECT_EQ(cube(Real(-3)), Real(-27));
  EXPECT_EQ(clamp(Real(2), Real(-1), Real(1)), Real(1));
  EXPECT_EQ(clamp(Real(-2), Real(-1), Real(1)), Real(-1));
  EXPECT_EQ(clamp(std::numeric_limits<Real>::quiet_NaN(), Real(-1), Real(1)), Real(-1));
  EXPECT_EQ(sign_or_one(Real(-0.0)), Real(1));
  EXPECT_EQ(sign_or_one(Real(-2)), Real(-1));
  EXPECT_EQ(negative(Real(-0.0)), Real(1));
  EXPECT_EQ(negative(Real(0)), Real(0));
  EXPECT_EQ(negative(Real(-1e-30)), Real(1));
  EXPECT_EQ(rounding_unit<Real>, std::numeric_limits<Real>::epsilon());
  EXPECT_EQ(pi<Real>, Real(std::acos(-1.0L)));
}

TYPED_TEST(SmallAlgebra, LeadingPowerOfTwoIsExactOverTheWholeRange) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  for (int e = Limits::min_exponent - 1; e < Limits::max_exponent - 2; ++e) {
    const Real power = std::ldexp(Real(1), e);
    for (const Real x : {power, std::nextafter(2 * power, Real(0))}) {
      const auto found = leading_power_of_two(x);
      ASSERT_EQ(found.value, power);
      ASSERT_EQ(found.reciprocal * power, Real(1));
    }
  }
  for (const Real x : {Real(0), Limits::denorm_min(), Limits::max(), Limits::infinity(), Limits::quiet_NaN()}) {
    const auto found = leading_power_of_two(x);
    EXPECT_TRUE(std::isnormal(found.value) && std::isnormal(found.reciprocal));
  }
}

TYPED_TEST(SmallAlgebra, BasisIsCompletedInEveryDirection) {
  using Real = TypeParam;
  std::vector<Vec3<Real>> directions{{0, 0, 1}, {0, 0, -1}, {1, 0, Real(0.0)}, {1, 0, Real(-0.0)}, {0, -1, 0}};
  for (std::size_t i = 0; i < 4096; ++i) {
    Random<Real> random{i};
    Vec3<Real> v = random.vector();
    if (i % 2 == 0) v.z *= random.power_of_ten(Real(20));                     // towards the equator
    if (i % 4 == 1) v = {v.x * random.power_of_ten(Real(20)), Real(0), v.z};  // towards the poles
    directions.push_back(v / norm(v));
  }
  for (const auto& n : directions) {
    const auto [p, q] = complete_basis(n);
    const auto basis = Mat3<Real>::from_columns(n, p, q);
    // A dozen roundings of half a unit, and the length of n itself is off by one.
    ASSERT_LE(norm(transpose_times(basis, basis) - Mat3<Real>::identity()), Real(8) * rounding_unit<Real>);
    ASSERT_GT(determinant(basis), Real(0.5));
  }
}

}  // namespace
}  // namespace ductile::test
