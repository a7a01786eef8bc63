#pragma once

#include <Eigen/Core>

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "geometry/patch.hpp"
#include "geometry/shape.hpp"

/// A checked scene: plain values, every default filled in, every name resolved to an index. SI units.
namespace ductile::scene {

using Eigen::Vector3d;

enum class Method { total_lagrangian, xpbi };
enum class Scheme { gauss_seidel, jacobi };
enum class Multiplier { scalar, pair, tensor };
enum class Reference { memory, current };
enum class Separation { distance, density };
enum class Volumes { elastic, density, total };
enum class Plasticity { implicit, semi_implicit, none };
enum class Gradient { least_squares, corrected, raw, mlsrk_constant, mlsrk_linear };
enum class Constraint { sqrt_energy, energy };
enum class SmoothingKernel { wendland, poly6, spiky, cubic, cosine };
enum class Precision { single_precision, double_precision };

struct Smoothing {
  SmoothingKernel kernel = SmoothingKernel::wendland;
  double support = 1.6;  ///< radius in particle spacings
};

struct Solver {
  Method method = Method::total_lagrangian;
  double time_step = 0;
  double end_time = 0;
  int iterations = 20;
  Scheme scheme = Scheme::gauss_seidel;
  double relaxation = 0.5;                          ///< jacobi only
  Multiplier multiplier = Multiplier::scalar;       ///< xpbi
  Reference reference = Reference::memory;          ///< xpbi
  Plasticity plasticity = Plasticity::implicit;     ///< xpbi
  Volumes volumes = Volumes::elastic;               ///< xpbi, reference current
  bool release = false;                             ///< xpbi, multiplier scalar
  double tolerance = 0;                             ///< xpbi
  Separation separation = Separation::distance;     ///< xpbi
  double least_distance = 0.5;                      ///< xpbi, spacings
  bool primal_residual = false;                     ///< xpbi: measure it
  Gradient gradient = Gradient::least_squares;      ///< total-lagrangian
  Constraint constraint = Constraint::sqrt_energy;  ///< total-lagrangian
  Smoothing smoothing;
  double hourglass = 0.1;
  Precision precision = Precision::single_precision;
  double xsph = 0.01;    ///< xpbi
  double damping = 0.0;  ///< 1/s
};

/// What a law does below the critical stretch: go on with constant stiffness, or jump to the corotated law (P0).
enum class Inversion { extended, hard_switch };
enum class ElasticModel { linear, corotated, fixed_corotated, stvk, neo_hookean, hencky };

struct Elastic {
  ElasticModel model = ElasticModel::neo_hookean;
  double youngs_modulus = 0;
  double poisson_ratio = 0;
  double inversion_below = 0.57735026918962576;  ///< stretch; 0 switches the extension off
  Inversion inversion = Inversion::extended;
};

/// Direction field of a fibre family: constant, or around/away from/along the body's own z axis.
struct Fiber {
  enum class Field { constant, axis, radial, circumferential } field = Field::constant;
  Vector3d direction{1, 0, 0};  ///< unit; for `constant`
  double stiffness = 0;         ///< Pa
};

struct VonMises {
  double yield_stress = 0, hardening = 0;
};
struct DruckerPrager {
  double friction_angle = 30, cohesion = 0;  ///< degrees; log-strain shift
  bool volume_correction = true;
};
struct CamClay {
  double slope = 0, cohesion = 0, hardening = 0, log_volume = -0.01;
  enum class Form { hencky, neo_hookean } form = Form::hencky;
};
struct HerschelBulkley {
  double yield_stress = 0, viscosity = 0, power = 1;
};
struct Snow {
  double critical_compression = 0.025, critical_stretch = 0.0075, hardening = 10;
};
struct Creep {
  double yield_strain = 0, rate = 0, max_strain = 0;
  bool deviatoric = false;
};
using Plastic = std::variant<std::monostate, VonMises, DruckerPrager, CamClay, HerschelBulkley, Snow, Creep>;

struct Material {
  std::string name;
  double density = 0;
  Elastic elastic;
  std::vector<Fiber> fibers;
  Plastic plastic;
};

/// How a body starts: x = stretch (along the shape's own axes, about its position) of the rest position, then moved by
/// a random vector of at most `scramble` along each axis.
struct Initial {
  Vector3d stretch{1, 1, 1};
  double scramble = 0;  ///< m

  [[nodiscard]] bool at_rest() const { return stretch == Vector3d::Ones() && scramble == 0; }
};

struct Body {
  std::string name;
  std::size_t material = 0;  ///< index into Scene::materials
  double spacing = 0;
  geometry::Shape shape;
  Vector3d velocity = Vector3d::Zero();
  Vector3d angular_velocity = Vector3d::Zero();  ///< rad/s about shape.position
  double jitter = 0;                             ///< fraction of the spacing
  int relax = 0;                                 ///< steps towards evenly filled space; default 4 with jitter
  Initial initial;
  std::string place = {};  ///< in its file, as messages name it; empty: unknown. Copies share it.
};

/// Rigid motion in world coordinates: velocity + angular_velocity x (x - about(t)), `about` carried along by
/// `velocity`.
struct Motion {
  Vector3d velocity = Vector3d::Zero();
  Vector3d angular_velocity = Vector3d::Zero();
  Vector3d about = Vector3d::Zero();

  // Where it began, for a motion that took over from another one while the simulation ran: at the time `since` the
  // world had turned by `turned` and the rest point `from` had come to `about`.
  double since = 0;  ///< s
  Eigen::Matrix3d turned = Eigen::Matrix3d::Identity();
  std::optional<Vector3d> from = {};  ///< none: `about`

  [[nodiscard]] bool still() const { return velocity.isZero(0) && angular_velocity.isZero(0); }
};

struct Fixture {
  std::string name;
  std::size_t body = 0;
  geometry::Shape region;  ///< rest positions in world coordinates
  Motion motion;
  std::optional<double> release_at;  ///< s
  std::string place = {};            ///< of the region in its file, as messages name it; empty: unknown
};

struct Collider {
  std::string name;
  geometry::Shape shape;
  Motion motion;
  double friction = 0;
  bool inside = false;  ///< keep particles inside the shape (a container)
};

/// A surface that severs whatever pair of neighbours it crosses while it acts.
struct Cut {
  std::string name;
  geometry::Patch patch;  ///< world coordinates at time 0
  Motion motion;
  double from = 0;              ///< s
  std::optional<double> until;  ///< s
};

struct Contact {
  bool enabled = false;  ///< true when the scene has a [contact] table
  double friction = 0;
  bool self = false;
};

struct Probe {
  enum class Quantity { mean_position, reaction };
  std::string name;
  Quantity quantity = Quantity::mean_position;
  std::size_t body = 0;                   ///< mean_position
  std::optional<geometry::Shape> region;  ///< mean_position; none: the whole body
  std::size_t fixture = 0;                ///< reaction
  std::string place = {};                 ///< of the region, as in Fixture
};

enum class Field { velocity, deformation_gradient, cauchy_stress, von_mises_stress, volume_ratio, piece };

struct Output {
  double interval = 0.02;
  std::vector<Field> fields{Field::velocity, Field::deformation_gradient, Field::cauchy_stress, Field::von_mises_stress,
                            Field::volume_ratio};
  double checkpoint_interval = 0.2;  ///< default: ten times `interval`
};

struct Scene {
  std::filesystem::path file;
  std::string title;
  std::string sha256;  ///< of the file's bytes
  std::string digest;  ///< SHA-256 of everything that decides the result (overrides included), end_time left out
  Solver solver;
  Vector3d gravity{0, 0, -9.81};
  std::vector<Material> materials;
  std::vector<Body> bodies;
  std::vector<Fixture> fixtures;
  std::vector<Collider> colliders;
  std::vector<Cut> cuts;
  Contact contact;
  std::vector<Probe> probes;
  Output output;
};

/// Reads, overrides (`--set key=value`, value in TOML syntax or a bare word) and checks a scene. Throws InputError
/// whose text holds every problem of the file, one `file:line:column: ...` each.
[[nodiscard]] Scene read_scene(const std::filesystem::path& file, const std::vector<std::string>& overrides);
/// The same for the text of a scene. `file` names it in messages; paths in it are relative to the folder of `file`.
[[nodiscard]] Scene parse_scene(const std::string& text, const std::filesystem::path& file,
                                const std::vector<std::string>& overrides);

}  // namespace ductile::scene
