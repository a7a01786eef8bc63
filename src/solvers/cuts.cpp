#include "solvers/cuts.hpp"

#include <Eigen/Geometry>

#include <algorithm>
#include <numeric>

#include "kernels/neighbors/neighbor_lists.hpp"
#include "runtime/algorithms.hpp"
#include "solvers/motion.hpp"

namespace ductile {

namespace {

using Eigen::Vector3d;
using Triangle = std::array<Vector3d, 3>;

/// Normals of triangles in one plane point to the same side, so that a particle on the plane has one side for all.
Triangle oriented(Triangle t) {
  const Vector3d normal = (t[1] - t[0]).cross(t[2] - t[0]);
  if (normal.dot(Vector3d(1, 0.6180339887, 0.3819660113)) < 0) std::swap(t[1], t[2]);
  return t;
}

/// The surface at the start and the end of a step and what its rim sweeps between.
void add_swept(const scene::Cut& cut, double begin, double end, std::vector<Triangle>& out) {
  const auto placed = [&](double time) {
    const Pose pose = pose_at(cut.motion, time);
    std::vector<Vector3d> points = cut.patch.vertices;
    for (auto& p : points) p = pose.rotation * (p - pose.about) + pose.about_now;
    return points;
  };
  const auto from = placed(begin), to = placed(end);
  for (const auto* points : {&from, &to})
    for (const auto& t : cut.patch.triangles)
      out.push_back(oriented({(*points)[t[0]], (*points)[t[1]], (*points)[t[2]]}));
  for (const auto& edge : cut.patch.rim) {
    out.push_back(oriented({from[edge[0]], from[edge[1]], to[edge[1]]}));
    out.push_back(oriented({from[edge[0]], to[edge[1]], to[edge[0]]}));
  }
}

/// Disjoint sets of particles; the root of a set is its member of the smallest id.
class Sets {
 public:
  explicit Sets(const std::vector<std::uint32_t>& id) : id_(id), parent_(id.size()) {
    std::iota(parent_.begin(), parent_.end(), 0u);
  }
  std::uint32_t root(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::uint32_t i, std::uint32_t j) {
    i = root(i);
    j = root(j);
    if (i != j) (id_[i] < id_[j] ? parent_[j] : parent_[i]) = id_[i] < id_[j] ? i : j;
  }

 private:
  const std::vector<std::uint32_t>& id_;
  std::vector<std::uint32_t> parent_;
};

}  // namespace

template <class Real>
Cuts<Real>::Cuts(Queue& queue, const scene::Scene& scene, const NeighborLists& lists, std::size_t particles) {
  if (scene.cuts.empty()) return;
  severed_ = {queue, lists.index.size()};
  severed_.clear_bytes();
  count_ = {queue, particles};
}

template <class Real>
bool Cuts<Real>::sever(Queue& queue, const scene::Scene& scene, const NeighborLists& lists, const Vec4<Real>* position,
                       double begin, double end) {
  std::vector<Triangle> swept;
  // Half a step of slack: times are multiples of the step up to rounding.
  const double middle = (begin + end) / 2;
  for (const auto& cut : scene.cuts)
    if (middle > cut.from && (!cut.until || middle < *cut.until)) add_swept(cut, begin, end, swept);
  if (swept.empty()) return false;
  std::vector<CutTriangle<Real>> triangles;
  Eigen::AlignedBox3d bounds;
  for (const auto& t : swept) {
    triangles.push_back({to_vec3<Real>(t[0]), to_vec3<Real>(t[1]), to_vec3<Real>(t[2])});
    for (const auto& corner : t) bounds.extend(corner);
  }
  const DeviceArray<CutTriangle<Real>> on_device(queue, triangles);
  launch(queue, "cuts", count_.size(),
         SeverPairs<Real>{lists.start.data(), lists.index.data(), position, on_device.data(),
                          std::uint32_t(triangles.size()), to_vec3<Real>(bounds.min()), to_vec3<Real>(bounds.max()),
                          severed_.data(), count_.data()});
  return reduce<PairTotal>(queue, "cuts", count_.size(), PairsOf{count_.data()}).pairs > 0;
}

template class Cuts<float>;
template class Cuts<double>;

Pieces find_pieces(const NeighborLists& lists, const DeviceArray<std::uint8_t>& severed,
                   const std::vector<std::uint32_t>& id) {
  const auto start = lists.start.download(), index = lists.index.download();
  const auto gone = severed.download();
  const std::size_t n = id.size();
  Sets sets(id);
  std::vector<char> cut(n), near(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::uint32_t s = start[i]; s < start[i + 1]; ++s) {
      if (gone.empty() || gone[s] == 0)
        sets.join(std::uint32_t(i), index[s]);
      else
        cut[i] = 1;
    }
  Pieces pieces;
  pieces.of_particle.resize(n);
  std::vector<std::uint32_t> by_id(n), number(n);
  for (std::size_t i = 0; i < n; ++i) by_id[id[i]] = std::uint32_t(i);
  std::uint32_t count = 0;
  for (const std::uint32_t i : by_id)
    if (sets.root(i) == i) number[i] = count++;
  for (std::size_t i = 0; i < n; ++i) pieces.of_particle[i] = number[sets.root(std::uint32_t(i))];
  for (std::size_t i = 0; i < n && !gone.empty(); ++i) {
    near[i] = cut[i];
    for (std::uint32_t s = start[i]; s < start[i + 1] && near[i] == 0; ++s) near[i] = gone[s] == 0 ? cut[index[s]] : 0;
    if (near[i] != 0) pieces.cut_layer.push_back(std::uint32_t(i));
  }
  return pieces;
}

}  // namespace ductile
