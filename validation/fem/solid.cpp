#include "validation/fem/solid.hpp"

#include <Eigen/LU>

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "common/error.hpp"

namespace ductile::fem {

namespace {

using Triplet = Eigen::Triplet<double>;
using NodeMatrix = Eigen::Matrix<double, 3, 27>;
using ElementMatrix = Eigen::Matrix<double, 81, 81>;

}  // namespace

Solid::Solid(HexMesh mesh, Law law, double density) : mesh_(std::move(mesh)), law_(std::move(law)) {
  const auto size = Eigen::Index(3 * mesh_.nodes.size());
  rest_.resize(size);
  for (std::size_t n = 0; n < mesh_.nodes.size(); ++n) rest_.segment<3>(Eigen::Index(3 * n)) = mesh_.nodes[n];
  position_ = rest_;
  velocity_ = acceleration_ = load_ = VectorXd::Zero(size);
  unknown_.assign(std::size_t(size), 0);
  set_up_elements();
  set_up_mass(density);
}

void Solid::set_up_elements() {
  elements_.resize(mesh_.elements.size());
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    const NodeMatrix X = gather(rest_, e);
    for (std::size_t q = 0; q < 27; ++q) {
      const ShapePoint& point = gauss_points()[q];
      NodeMatrix local;
      for (std::size_t n = 0; n < 27; ++n) local.col(Eigen::Index(n)) = point.derivative[n];
      const Matrix3d jacobian = X * local.transpose();  // dX/dlocal
      const double determinant = jacobian.determinant();
      if (!(determinant > 0)) throw InputError(fmt::format("Element {} of the mesh is folded.", e));
      elements_[e].gradient[q] = jacobian.inverse().transpose() * local;
      elements_[e].volume[q] = point.weight * determinant;
    }
  }
}

void Solid::set_up_mass(double density) {
  std::vector<Triplet> entries;
  entries.reserve(elements_.size() * 27 * 27 * 3);
  for (std::size_t e = 0; e < elements_.size(); ++e)
    for (std::size_t a = 0; a < 27; ++a)
      for (std::size_t b = 0; b < 27; ++b) {
        double sum = 0;
        for (std::size_t q = 0; q < 27; ++q)
          sum += elements_[e].volume[q] * gauss_points()[q].value[a] * gauss_points()[q].value[b];
        for (int k = 0; k < 3; ++k)
          entries.emplace_back(3 * mesh_.elements[e][a] + k, 3 * mesh_.elements[e][b] + k, density * sum);
      }
  mass_.resize(rest_.size(), rest_.size());
  mass_.setFromTriplets(entries.begin(), entries.end());
}

NodeMatrix Solid::gather(const VectorXd& x, std::size_t element) const {
  NodeMatrix nodes;
  for (std::size_t n = 0; n < 27; ++n)
    nodes.col(Eigen::Index(n)) = x.segment<3>(Eigen::Index(3) * mesh_.elements[element][n]);
  return nodes;
}

double Solid::energy(const VectorXd& x) const {
  std::vector<double> of_element(elements_.size());
#pragma omp parallel for
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    const NodeMatrix nodes = gather(x, e);
    double sum = 0;
    for (std::size_t q = 0; q < 27; ++q)
      sum += elements_[e].volume[q] * law_(nodes * elements_[e].gradient[q].transpose()).energy;
    of_element[e] = sum;
  }
  return std::accumulate(of_element.begin(), of_element.end(), 0.0);
}

VectorXd Solid::force(const VectorXd& x) const {
  std::vector<NodeMatrix> of_element(elements_.size());
#pragma omp parallel for
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    const NodeMatrix nodes = gather(x, e);
    NodeMatrix sum = NodeMatrix::Zero();
    for (std::size_t q = 0; q < 27; ++q) {
      const auto& gradient = elements_[e].gradient[q];
      sum -= elements_[e].volume[q] * law_(nodes * gradient.transpose()).stress * gradient;
    }
    of_element[e] = sum;
  }
  VectorXd result = VectorXd::Zero(x.size());
  for (std::size_t e = 0; e < elements_.size(); ++e)
    for (std::size_t n = 0; n < 27; ++n)
      result.segment<3>(Eigen::Index(3) * mesh_.elements[e][n]) += of_element[e].col(Eigen::Index(n));
  return result;
}

SparseMatrix Solid::stiffness(const VectorXd& x) const {
  constexpr std::size_t per_element = 81 * 82 / 2;
  std::vector<Triplet> entries(elements_.size() * per_element);
#pragma omp parallel for
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    const NodeMatrix nodes = gather(x, e);
    ElementMatrix matrix = ElementMatrix::Zero();
    for (std::size_t q = 0; q < 27; ++q) {
      const auto& gradient = elements_[e].gradient[q];
      Eigen::Matrix<double, 9, 81> map = Eigen::Matrix<double, 9, 81>::Zero();  // F_kl = sum x_nk gradient_ln
      for (Eigen::Index n = 0; n < 27; ++n)
        for (Eigen::Index k = 0; k < 3; ++k) map.block<3, 1>(3 * k, 3 * n + k) = gradient.col(n);
      const Matrix9d D = elements_[e].volume[q] * tangent(law_, nodes * gradient.transpose());
      matrix.noalias() += map.transpose() * (D * map);
    }
    std::size_t entry = e * per_element;
    const auto index = [&](Eigen::Index i) { return 3 * mesh_.elements[e][std::size_t(i / 3)] + int(i % 3); };
    for (Eigen::Index i = 0; i < 81; ++i)
      for (Eigen::Index j = 0; j <= i; ++j)
        entries[entry++] = {std::max(index(i), index(j)), std::min(index(i), index(j)), matrix(i, j)};
  }
  SparseMatrix result(x.size(), x.size());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

void Solid::hold(int node, int axis, double value) {
  const int component = 3 * node + axis;
  unknown_[std::size_t(component)] = -1;
  position_[component] = value;
  numbered_ = false;
}

void Solid::number_unknowns() {
  if (numbered_) return;
  int count = 0;
  for (int& number : unknown_)
    if (number >= 0) number = count++;
  numbered_ = true;
  analysed_ = false;
}

void Solid::place(const VectorXd& position) {
  for (std::size_t i = 0; i < unknown_.size(); ++i)
    if (unknown_[i] >= 0) position_[Eigen::Index(i)] = position[Eigen::Index(i)];
}

void Solid::load(const std::function<Vector3d(const Vector3d&)>& density_of_force) {
  load_.setZero();
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    const NodeMatrix X = gather(rest_, e);
    for (std::size_t q = 0; q < 27; ++q) {
      const auto& value = gauss_points()[q].value;
      Vector3d at = Vector3d::Zero();
      for (std::size_t n = 0; n < 27; ++n) at += value[n] * X.col(Eigen::Index(n));
      const Vector3d amount = elements_[e].volume[q] * density_of_force(at);
      for (std::size_t n = 0; n < 27; ++n)
        load_.segment<3>(Eigen::Index(3) * mesh_.elements[e][n]) += value[n] * amount;
    }
  }
}

double Solid::objective(const VectorXd& x, const VectorXd& load, const Inertia& inertia) const {
  double value = energy(x) - load.dot(x - rest_);
  if (inertia.factor > 0) {
    const VectorXd offset = x - inertia.target;
    value += 0.5 * inertia.factor * offset.dot(mass_ * offset);
  }
  return value;
}

VectorXd Solid::imbalance(const VectorXd& x, const VectorXd& load, const Inertia& inertia) const {
  VectorXd result = force(x) + load;
  if (inertia.factor > 0) result -= inertia.factor * (mass_ * (x - inertia.target));
  for (std::size_t i = 0; i < unknown_.size(); ++i)
    if (unknown_[i] < 0) result[Eigen::Index(i)] = 0;
  return result;
}

SparseMatrix Solid::restricted(const SparseMatrix& lower) const {
  int count = 0;
  for (const int number : unknown_) count += number >= 0;
  std::vector<Triplet> entries;
  entries.reserve(std::size_t(lower.nonZeros()));
  for (Eigen::Index column = 0; column < lower.outerSize(); ++column)
    for (SparseMatrix::InnerIterator entry(lower, column); entry; ++entry) {
      const int i = unknown_[std::size_t(entry.row())], j = unknown_[std::size_t(entry.col())];
      if (i >= 0 && j >= 0 && i >= j) entries.emplace_back(i, j, entry.value());
    }
  SparseMatrix result(count, count);
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

VectorXd Solid::direction(const VectorXd& x, const VectorXd& imbalance, const Inertia& inertia) {
  const SparseMatrix lower_mass = mass_.triangularView<Eigen::Lower>();
  SparseMatrix matrix = restricted(stiffness(x) + inertia.factor * lower_mass);
  const SparseMatrix mass = restricted(lower_mass);
  const double scale = matrix.diagonal().sum() / mass.diagonal().sum();
  VectorXd right(matrix.rows());
  for (std::size_t i = 0; i < unknown_.size(); ++i)
    if (unknown_[i] >= 0) right[unknown_[i]] = imbalance[Eigen::Index(i)];
  if (!analysed_) factors_->analyzePattern(matrix);
  analysed_ = true;
  for (double shift = 0; shift < 1e4; shift = std::max(1e-4, 10 * shift)) {
    factors_->factorize(shift > 0 ? SparseMatrix(matrix + shift * scale * mass) : matrix);
    if (factors_->info() == Eigen::Success && factors_->vectorD().minCoeff() > 0) {
      const VectorXd solution = factors_->solve(right);
      VectorXd result = VectorXd::Zero(x.size());
      for (std::size_t i = 0; i < unknown_.size(); ++i)
        if (unknown_[i] >= 0) result[Eigen::Index(i)] = solution[unknown_[i]];
      return result;
    }
  }
  throw SimulationError("The stiffness matrix has no definite neighbour: the state is not sound.");
}

Solve Solid::minimise(const VectorXd& load, const Inertia& inertia, double tolerance) {
  Solve solve;
  VectorXd r = imbalance(position_, load, inertia);
  // Held components give no load of their own: the reaction of the rest is the measure there.
  const double scale = std::max({load.norm(), force(position_).norm(), 1e-300});
  double value = objective(position_, load, inertia);
  for (; solve.iterations < 60; ++solve.iterations) {
    solve.residual = r.norm() / scale;
    solve.converged = solve.residual < tolerance;
    if (solve.converged) return solve;
    const VectorXd step = direction(position_, r, inertia);
    double part = 1;
    for (; part > 1e-6; part /= 2) {
      const VectorXd tried = position_ + part * step;
      const double next = objective(tried, load, inertia);
      if (!std::isfinite(next)) continue;
      const VectorXd left = imbalance(tried, load, inertia);
      // Near the minimum the decrease drowns in rounding, the imbalance doesn't.
      if (next <= value - 1e-4 * part * r.dot(step) || left.norm() < 0.5 * r.norm()) {
        position_ = tried;
        value = next;
        r = left;
        break;
      }
    }
    if (!(part > 1e-6)) return solve;
  }
  return solve;
}

Solve Solid::equilibrate(int load_steps, double tolerance) {
  number_unknowns();
  Solve total;
  for (int step = 1; step <= load_steps; ++step) {
    const bool last = step == load_steps;
    const Solve solve = minimise(double(step) / load_steps * load_, {}, last ? tolerance : 1e-4);
    total = {total.iterations + solve.iterations, solve.residual, solve.converged};
    if (!solve.converged)
      throw SimulationError(
          fmt::format("Newton's method stalled at a relative imbalance of {:.1e} (load step {} of {}). "
                      "Use more load steps.",
                      solve.residual, step, load_steps));
  }
  return total;
}

Solve Solid::advance(double time_step, Scheme scheme, double tolerance) {
  number_unknowns();
  if (!moving_ && scheme == Scheme::trapezoidal) {
    const VectorXd r = imbalance(position_, load_, {});
    const SparseMatrix mass = restricted(mass_.triangularView<Eigen::Lower>());
    VectorXd right(mass.rows());
    for (std::size_t i = 0; i < unknown_.size(); ++i)
      if (unknown_[i] >= 0) right[unknown_[i]] = r[Eigen::Index(i)];
    const VectorXd solution = Factors(mass).solve(right);
    for (std::size_t i = 0; i < unknown_.size(); ++i)
      if (unknown_[i] >= 0) acceleration_[Eigen::Index(i)] = solution[unknown_[i]];
  }
  moving_ = true;
  const bool first_order = scheme == Scheme::backward_euler;
  const VectorXd before = position_;
  Inertia inertia{(first_order ? 1 : 4) / (time_step * time_step), before + time_step * velocity_};
  if (!first_order) inertia.target += time_step * time_step / 4 * acceleration_;
  const Solve solve = minimise(load_, inertia, tolerance);
  if (!solve.converged)
    throw SimulationError(fmt::format("Newton's method stalled at a relative imbalance of {:.1e}.", solve.residual));
  if (first_order) {
    velocity_ = (position_ - before) / time_step;
  } else {
    acceleration_ = inertia.factor * (position_ - inertia.target);
    velocity_ = 2 / time_step * (position_ - before) - velocity_;
  }
  return solve;
}

Vector3d Solid::end_displacement() const {
  const auto [nx, ny, nz] = mesh_.counts;
  const auto weight = [](int n, int count) { return (n == 0 || n == 2 * count) ? 1.0 : n % 2 == 1 ? 4.0 : 2.0; };
  Vector3d sum = Vector3d::Zero();
  double weights = 0;
  for (int j = 0; j <= 2 * ny; ++j)
    for (int k = 0; k <= 2 * nz; ++k) {
      const double w = weight(j, ny) * weight(k, nz);  // Simpson's rule integrates quadratic functions exactly
      const Eigen::Index at = Eigen::Index(3) * mesh_.node(2 * nx, j, k);
      sum += w * (position_.segment<3>(at) - rest_.segment<3>(at));
      weights += w;
    }
  return sum / weights;
}

double Solid::l2_error(const std::function<Vector3d(const Vector3d&)>& displacement) const {
  double sum = 0, volume = 0;
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    const NodeMatrix X = gather(rest_, e), u = gather(position_, e) - X;
    for (std::size_t q = 0; q < 27; ++q) {
      const Eigen::Map<const Eigen::Matrix<double, 27, 1>> value(gauss_points()[q].value.data());
      sum += elements_[e].volume[q] * (u * value - displacement(X * value)).squaredNorm();
      volume += elements_[e].volume[q];
    }
  }
  return std::sqrt(sum / volume);
}

}  // namespace ductile::fem
