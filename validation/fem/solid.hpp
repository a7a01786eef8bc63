#pragma once

#include <Eigen/Sparse>
#include <Eigen/SparseCholesky>

#include <functional>
#include <memory>
#include <vector>

#include "validation/fem/law.hpp"
#include "validation/fem/mesh.hpp"

namespace ductile::fem {

using Eigen::VectorXd;
using SparseMatrix = Eigen::SparseMatrix<double>;

/// Outcome of a Newton solve.
struct Solve {
  int iterations = 0;
  double residual = 0;  ///< force imbalance over the load (or over the inertia of a step)
  bool converged = false;
};

/// A body of 27-node hexahedra of one material. Positions are one vector (x0, y0, z0, x1, ...).
///
/// Every solve minimises  energy(x) - load . x + (a/2) (x - y)^T M (x - y)  over the free components by Newton's method
/// with a line search: a = 0 is equilibrium, a = 1/dt^2 backward Euler, a = 4/dt^2 the trapezoidal rule.
class Solid {
 public:
  Solid(HexMesh mesh, Law law, double density);

  [[nodiscard]] const HexMesh& mesh() const { return mesh_; }
  [[nodiscard]] const VectorXd& rest() const { return rest_; }
  [[nodiscard]] const VectorXd& position() const { return position_; }
  [[nodiscard]] const SparseMatrix& mass() const { return mass_; }
  [[nodiscard]] double energy(const VectorXd& x) const;
  /// -d energy / dx
  [[nodiscard]] VectorXd force(const VectorXd& x) const;
  /// d2 energy / dx2, all components, lower triangle.
  [[nodiscard]] SparseMatrix stiffness(const VectorXd& x) const;

  /// Holds a component of a node at a value.
  void hold(int node, int axis, double value);
  /// Moves the free components: where the next solve starts.
  void place(const VectorXd& position);
  /// Dead load: the force per rest volume at a rest position [N/m^3].
  void load(const std::function<Vector3d(const Vector3d&)>& density_of_force);

  /// Equilibrium under the load, reached in equal parts; throws SimulationError where Newton stalls.
  Solve equilibrate(int load_steps, double tolerance = 1e-9);

  enum class Scheme { backward_euler, trapezoidal };
  /// One time step; the first one starts from rest.
  Solve advance(double time_step, Scheme scheme, double tolerance = 1e-8);

  /// Displacement averaged over the face of largest x of an undistorted box.
  [[nodiscard]] Vector3d end_displacement() const;
  /// Root of the mean square of the displacement's deviation from a field over the rest volume.
  [[nodiscard]] double l2_error(const std::function<Vector3d(const Vector3d&)>& displacement) const;

 private:
  /// Gradients of the shape functions in rest coordinates at the points of one element.
  struct Element {
    std::array<Eigen::Matrix<double, 3, 27>, 27> gradient;
    std::array<double, 27> volume;
  };
  struct Inertia {
    double factor = 0;  ///< a
    VectorXd target;    ///< y
  };

  void set_up_elements();
  void set_up_mass(double density);
  void number_unknowns();
  [[nodiscard]] Eigen::Matrix<double, 3, 27> gather(const VectorXd& x, std::size_t element) const;
  [[nodiscard]] double objective(const VectorXd& x, const VectorXd& load, const Inertia& inertia) const;
  [[nodiscard]] VectorXd imbalance(const VectorXd& x, const VectorXd& load, const Inertia& inertia) const;
  /// Newton direction; adds a multiple of the mass until the matrix is positive definite.
  [[nodiscard]] VectorXd direction(const VectorXd& x, const VectorXd& imbalance, const Inertia& inertia);
  Solve minimise(const VectorXd& load, const Inertia& inertia, double tolerance);
  [[nodiscard]] SparseMatrix restricted(const SparseMatrix& lower) const;

  HexMesh mesh_;
  Law law_;
  std::vector<Element> elements_;
  SparseMatrix mass_;  ///< consistent, all components, both triangles
  VectorXd rest_, position_, velocity_, acceleration_, load_;
  std::vector<int> unknown_;  ///< number of a component among the free ones, or -1
  using Factors = Eigen::SimplicialLDLT<SparseMatrix, Eigen::Lower>;
  std::unique_ptr<Factors> factors_ = std::make_unique<Factors>();  ///< behind a pointer: it cannot be moved
  bool numbered_ = false, analysed_ = false, moving_ = false;
};

}  // namespace ductile::fem
