#include "solvers/cuts.hpp"

#include <Eigen/Geometry>

#include <algorithm>
#include <numeric>

#include "kernels/neighbors/neighbor_lists.hpp"
#include "runtime/algorithms.hpp"
#include "solvers/motion.hpp"
#include "solvers/state_blocks.hpp"

namespace ductile {

namespace {

using Eigen::Vector3d;
using Triangle = std::array<Vector3d, 3>;

Vector3d normal(const Triangle& t) { return (t[1] - t[0]).cross(t[2] - t[0]); }

/// The surface at the start and the end of a step and what its rim sweeps between. All normals point to the same side
/// of the cut: what the rim sweeps goes on with the surface, also where it runs back into it.
void add_swept(const scene::Cut& cut, double begin, double end, std::vector<Triangle>& out) {
  const auto placed = [&](double time) {
    const Pose pose = pose_at(cut.motion, time);
    std::vector<Vector3d> points = cut.patch.vertices;
    for (auto& p : points) p = pose.rotation * (p - pose.about) + pose.about_now;
    return points;
  };
  const auto from = placed(begin), to = placed(end);
  for (const auto* points : {&from, &to})
    for (const auto& t : cut.patch.triangles) out.push_back({(*points)[t[0]], (*points)[t[1]], (*points)[t[2]]});
  for (const auto& edge : cut.patch.rim) {
    const auto& t = cut.patch.triangles[edge.triangle];
    const Vector3d surface = normal({from[t[0]], from[t[1]], from[t[2]]}).normalized();
    for (Triangle swept : {Triangle{from[edge.b], from[edge.a], to[edge.a]}, {from[edge.b], to[edge.a], to[edge.b]}}) {
      const Vector3d n = normal(swept);
      if (n.dot(surface) < -0.7 * n.norm()) std::swap(swept[1], swept[2]);
      out.push_back(swept);
    }
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
Cuts<Real>::Cuts(Queue& queue, const scene::Scene& scene, const NeighborLists& lists,
                 const std::vector<std::uint32_t>& id) {
  if (scene.cuts.empty()) return;
  severed_ = {queue, lists.index.size()};
  severed_.clear_bytes();
  side_ = {queue, id.size() * scene.cuts.size()};
  side_.clear_bytes();
  count_ = {queue, id.size()};
  update_pieces(lists, id);
}

template <class Real>
bool Cuts<Real>::sever(Queue& queue, const scene::Scene& scene, const NeighborLists& lists, const Vec4<Real>* position,
                       double begin, double end) {
  const std::size_t n = count_.size();
  // Half a step of slack: times are multiples of the step up to rounding.
  const double middle = (begin + end) / 2;
  bool any = false;
  for (std::size_t c = 0; c < scene.cuts.size(); ++c) {
    const auto& cut = scene.cuts[c];
    if (middle <= cut.from || (cut.until && middle >= *cut.until)) continue;
    std::vector<Triangle> swept;
    add_swept(cut, begin, end, swept);
    std::vector<CutTriangle<Real>> triangles;
    Eigen::AlignedBox3d bounds;
    for (const auto& t : swept) {
      triangles.push_back({to_vec3<Real>(t[0]), to_vec3<Real>(t[1]), to_vec3<Real>(t[2])});
      for (const auto& corner : t) bounds.extend(corner);
    }
    const DeviceArray<CutTriangle<Real>> on_device(queue, triangles);
    const Blade<Real> blade{on_device.data(), std::uint32_t(triangles.size()), to_vec3<Real>(bounds.min()),
                            to_vec3<Real>(bounds.max())};
    std::int8_t* side = side_.data() + c * n;
    launch(queue, "cuts", n, ChooseSides<Real>{lists.start.data(), lists.index.data(), position, blade, side});
    launch(queue, "cuts", n,
           SeverPairs<Real>{lists.start.data(), lists.index.data(), position, blade, side, severed_.data(),
                            count_.data()});
    any = reduce<PairTotal>(queue, "cuts", n, PairsOf{count_.data()}).pairs > 0 || any;
  }
  return any;
}

template <class Real>
void Cuts<Real>::update_pieces(const NeighborLists& lists, const std::vector<std::uint32_t>& id) {
  pieces_ = find_pieces(lists, severed_, id, pieces_.of_particle);
}

template <class Real>
void Cuts<Real>::save(std::vector<StateBlock>& blocks) const {
  if (!active()) return;
  blocks.push_back(pack("severed_pairs", severed_));
  blocks.push_back(pack("cut_sides", side_));
  blocks.push_back(pack("pieces", pieces_.of_particle));
}

template <class Real>
bool Cuts<Real>::restore(const std::vector<StateBlock>& blocks) {
  if (!active()) return false;
  unpack(blocks, "severed_pairs", severed_);
  unpack(blocks, "cut_sides", side_);
  unpack(blocks, "pieces", pieces_.of_particle);
  const auto severed = severed_.download();
  return std::any_of(severed.begin(), severed.end(), [](std::uint8_t s) { return s != 0; });
}

template class Cuts<float>;
template class Cuts<double>;

Pieces find_pieces(const NeighborLists& lists, const DeviceArray<std::uint8_t>& severed,
                   const std::vector<std::uint32_t>& id, const std::vector<std::uint32_t>& before) {
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
  std::uint32_t next = before.empty() ? 0 : *std::max_element(before.begin(), before.end()) + 1;
  std::vector<char> kept(next);
  for (const std::uint32_t i : by_id)
    if (sets.root(i) == i) {
      const bool first = !before.empty() && kept[before[i]] == 0;
      number[i] = first ? before[i] : next++;
      if (first) kept[before[i]] = 1;
    }
  for (std::size_t i = 0; i < n; ++i) pieces.of_particle[i] = number[sets.root(std::uint32_t(i))];
  for (std::size_t i = 0; i < n && !gone.empty(); ++i) {
    near[i] = cut[i];
    for (std::uint32_t s = start[i]; s < start[i + 1] && near[i] == 0; ++s) near[i] = gone[s] == 0 ? cut[index[s]] : 0;
    if (near[i] != 0) pieces.cut_layer.push_back(std::uint32_t(i));
  }
  return pieces;
}

}  // namespace ductile
