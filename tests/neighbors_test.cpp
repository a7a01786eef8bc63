#include "solvers/neighbors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "common/error.hpp"

namespace {

using namespace ductile;

template <class Real>
using Points = std::vector<Vec4<Real>>;

/// The definition itself, with the same arithmetic as the search: a pair on the edge must be decided alike.
template <class Real>
std::vector<std::set<std::uint32_t>> brute_force(const Points<Real>& x, Real radius, const std::uint32_t* group) {
  std::vector<std::set<std::uint32_t>> result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) {
      const Real a = x[i][0] - x[j][0], b = x[i][1] - x[j][1], c = x[i][2] - x[j][2];
      if (i != j && std::fma(a, a, std::fma(b, b, c * c)) < radius * radius && (!group || group[i] == group[j]))
        result[i].insert(std::uint32_t(j));
    }
  return result;
}

template <class Real>
void expect_equal_to_brute_force(const Points<Real>& x, Real radius, const std::vector<std::uint32_t>& group = {}) {
  Queue queue;
  const DeviceArray<Vec4<Real>> position(queue, x);
  const DeviceArray<std::uint32_t> groups(queue, group);
  const auto lists = group.empty() ? find_neighbors<Real>(queue, position, radius)
                                   : find_neighbors<Real>(queue, position, radius, SameGroup{groups.data()});
  const auto start = lists.start.download(), index = lists.index.download();
  const auto expected = brute_force(x, radius, group.empty() ? nullptr : group.data());
  ASSERT_EQ(start.size(), x.size() + 1);
  ASSERT_EQ(start.back(), index.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::set<std::uint32_t> found(index.begin() + start[i], index.begin() + start[i + 1]);
    ASSERT_EQ(found.size(), start[i + 1] - start[i]) << "a neighbour of " << i << " is listed twice";
    ASSERT_EQ(found, expected[i]) << "particle " << i;
  }
}

template <class Real>
Points<Real> random_points(std::size_t n, Real extent, Real offset = 0) {
  std::mt19937 random(7);
  std::uniform_real_distribution<Real> coordinate(0, extent);
  Points<Real> x(n);
  for (auto& p : x)
    p = Vec4<Real>(offset + coordinate(random), offset + coordinate(random), offset + coordinate(random), 0);
  return x;
}

template <class Real>
struct Neighbors : testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(Neighbors, Precisions);

TYPED_TEST(Neighbors, RandomPoints) {
  expect_equal_to_brute_force<TypeParam>(random_points<TypeParam>(2000, 1), TypeParam(0.12));
  expect_equal_to_brute_force<TypeParam>(random_points<TypeParam>(500, 1), TypeParam(3));  // everyone sees everyone
}

TYPED_TEST(Neighbors, FarFromTheOrigin) {
  // The spacing of floats at 4096 is 5e-4: pairs fall together and apart by rounding, the lists must agree all the
  // same.
  expect_equal_to_brute_force<TypeParam>(random_points<TypeParam>(1500, 1, 4096), TypeParam(0.12));
  expect_equal_to_brute_force<TypeParam>(random_points<TypeParam>(1500, 1, -70000), TypeParam(0.12));
}

TYPED_TEST(Neighbors, TwoClustersVeryFarApart) {
  auto x = random_points<TypeParam>(700, 1);
  for (std::size_t i = 0; i < x.size(); i += 2) x[i] = x[i] + Vec4<TypeParam>(TypeParam(1e6), 0, TypeParam(-1e5), 0);
  expect_equal_to_brute_force<TypeParam>(x, TypeParam(0.15));
}

TYPED_TEST(Neighbors, Lattice) {
  // Neighbours at exactly the radius, in every direction.
  Points<TypeParam> x;
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 8; ++j)
      for (int k = 0; k < 7; ++k)
        x.emplace_back(TypeParam(0.1) * TypeParam(i), TypeParam(0.1) * TypeParam(j), TypeParam(0.1) * TypeParam(k),
                       TypeParam(0));
  for (const double support : {1.0, 1.6, 2.0, 2.01})
    expect_equal_to_brute_force<TypeParam>(x, TypeParam(0.1 * support));
}

TYPED_TEST(Neighbors, DegenerateInputs) {
  expect_equal_to_brute_force<TypeParam>({}, 1);
  expect_equal_to_brute_force<TypeParam>(Points<TypeParam>(1), 1);
  expect_equal_to_brute_force<TypeParam>(Points<TypeParam>(300), 1);  // all in one point
  Points<TypeParam> line;
  for (int i = 0; i < 400; ++i)
    line.emplace_back(TypeParam(0), TypeParam(0.01) * TypeParam(i), TypeParam(0), TypeParam(0));
  expect_equal_to_brute_force<TypeParam>(line, TypeParam(0.055));
  auto mixed = random_points<TypeParam>(300, 1);
  mixed.insert(mixed.end(), 200, mixed[17]);  // a coincident cluster in a random cloud
  expect_equal_to_brute_force<TypeParam>(mixed, TypeParam(0.2));
}

TYPED_TEST(Neighbors, GroupsDoNotSeeEachOther) {
  const auto x = random_points<TypeParam>(800, 1);
  std::vector<std::uint32_t> group(x.size());
  for (std::size_t i = 0; i < group.size(); ++i) group[i] = std::uint32_t(i % 3);
  expect_equal_to_brute_force<TypeParam>(x, TypeParam(0.2), group);
}

TYPED_TEST(Neighbors, ListsAreTheSameEveryTime) {
  Queue queue;
  const DeviceArray<Vec4<TypeParam>> position(queue, random_points<TypeParam>(5000, 1));
  const auto first = find_neighbors<TypeParam>(queue, position, TypeParam(0.1));
  for (int k = 0; k < 5; ++k)
    ASSERT_EQ(find_neighbors<TypeParam>(queue, position, TypeParam(0.1)).index.download(), first.index.download());
}

TYPED_TEST(Neighbors, NotANumberIsAnError) {
  Queue queue;
  auto x = random_points<TypeParam>(10, 1);
  x[3] = Vec4<TypeParam>(TypeParam(NAN), 0, 0, 0);
  const DeviceArray<Vec4<TypeParam>> position(queue, x);
  EXPECT_THROW((void)find_neighbors<TypeParam>(queue, position, TypeParam(0.1)), SimulationError);
}

}  // namespace
