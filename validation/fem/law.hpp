#pragma once

#include <Eigen/Core>

#include <functional>
#include <string>

/// Finite elements as a reference for the particle methods: the same material laws, another discretisation.
namespace ductile::fem {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Matrix9d = Eigen::Matrix<double, 9, 9>;

/// Energy per rest volume and first Piola stress of a deformation gradient.
struct Response {
  double energy;
  Matrix3d stress;
};

using Law = std::function<Response(const Matrix3d& F)>;

struct LawParameters {
  std::string model = "hencky";  ///< as `elastic.model` of a scene
  double youngs_modulus = 1e5;   ///< Pa
  double poisson_ratio = 0.3;
  double inversion_below = 0;  ///< as `elastic.inversion_below`; 0: the plain law
};

/// The law of kernels/materials in double precision. Throws InputError for an unknown model.
[[nodiscard]] Law make_law(const LawParameters& parameters);

/// dP/dF, row 3i+j for P_ij and column 3k+l for F_kl, by central differences and made symmetric: its error, about 1e-9
/// of the stiffness, slows Newton's last steps and changes no result.
[[nodiscard]] Matrix9d tangent(const Law& law, const Matrix3d& F);

}  // namespace ductile::fem
