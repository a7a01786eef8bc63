#include <Eigen/Geometry>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <numbers>
#include <unordered_set>
#include <utility>

#include "common/error.hpp"
#include "common/sha256.hpp"
#include "scene/overrides.hpp"
#include "scene/problems.hpp"
#include "scene/reader.hpp"
#include "scene/scene.hpp"
#include "scene/text.hpp"
#include "scene/toml_text.hpp"

namespace ductile::scene {
namespace {

namespace fs = std::filesystem;
using geometry::Shape;

template <class T>
std::vector<std::string> names_of(const std::vector<T>& values) {
  std::vector<std::string> names;
  for (const T& value : values) names.push_back(value.name);
  return names;
}

/// Refuses what the device's numbers can't hold; those of the file are double.
class InPrecision {
 public:
  explicit InPrecision(Precision precision) : single_(precision == Precision::single_precision) {}

  void check_least(Reader& in, std::string_view name, double value) const {
    if (value != 0 && std::abs(value) < least()) refuse(in, name, "small", fmt::format("from {:.1e} on", least()));
  }
  void check(Reader& in, std::string_view name, double value) const {
    check_least(in, name, value);
    if (std::abs(value) > most()) refuse(in, name, "large", fmt::format("up to {:.1e}", most()));
  }
  /// For what the device squares too, in its own precision.
  void check_squares(Reader& in, std::string_view name, double value) const {
    if (std::abs(value) > squarable(false))
      refuse_anywhere(in, name, squarable(false));
    else if (std::abs(value) > squarable(single_))
      refuse(in, name, "large", fmt::format("up to {:.1e}", squarable(single_)));
  }
  void check_squares(Reader& in, std::string_view name, const Vector3d& value) const {
    check_squares(in, name, value.cwiseAbs().maxCoeff());
  }
  /// Components may vanish; their squares are added in double precision.
  void check(Reader& in, std::string_view name, const Vector3d& value) const {
    const double largest = value.cwiseAbs().maxCoeff();
    if (largest > squarable(false))
      refuse_anywhere(in, name, squarable(false));
    else if (largest > most())
      refuse(in, name, "large", fmt::format("up to {:.1e}", most()));
  }
  /// The compliance of a particle per square of the step, 1 / (volume step^2), with room for what it is multiplied by.
  void check_compliance(Reader& in, double spacing, double time_step) const {
    if (std::pow(spacing, -3) / (time_step * time_step) < 1e-4 * most()) return;
    in.refuse("spacing",
              fmt::format("is too small for solver.time_step in {} precision", single_ ? "single" : "double"),
              fmt::format("spacing^3 time_step^2 of at least {:.0e}{}", 1e4 / most(),
                          single_ ? ", or solver.precision = \"double\"" : ""));
  }

 private:
  /// The largest number whose square, and a sum of some thousand of them, has the precision's range.
  static double squarable(bool single) { return single ? 1e17 : 1e150; }
  static void refuse_anywhere(Reader& in, std::string_view name, double most) {
    in.refuse(name, "is too large for any precision", fmt::format("a magnitude up to {:g}", most));
  }
  [[nodiscard]] double least() const {
    return single_ ? double(std::numeric_limits<float>::min()) : std::numeric_limits<double>::min();
  }
  [[nodiscard]] double most() const {
    return single_ ? double(std::numeric_limits<float>::max()) : std::numeric_limits<double>::max();
  }
  void refuse(Reader& in, std::string_view name, const char* how, const std::string& bound) const {
    in.refuse(name, fmt::format("is too {} for {} precision", how, single_ ? "single" : "double"),
              fmt::format("a magnitude {}{}", bound, single_ ? ", or solver.precision = \"double\"" : ""));
  }

  bool single_;
};

Smoothing read_smoothing(Reader& in, bool neighbors_change) {
  // On lattices a support just beyond the diagonal neighbours is the most accurate as long as neighbours stay; others
  // need more of them.
  return {in.get<SmoothingKernel>("kernel"), in.get<double>("support", neighbors_change ? 2.0 : 1.6)};
}

/// `flows`: some material is plastic.
Solver read_solver(Reader& in, bool flows) {
  constexpr double most_steps = 1e12;  // counters and time stamps stay exact far beyond any run that ends
  Solver solver;
  solver.method = in.select<Method>("method", available_methods, "is not available");
  solver.time_step = in.get<double>("time_step");
  solver.end_time = in.get<double>("end_time");
  if (solver.end_time < solver.time_step)
    in.refuse("end_time", "is before the end of the first step",
              fmt::format("at least solver.time_step = {}", solver.time_step));
  if (solver.end_time / solver.time_step > most_steps)
    in.refuse("end_time", "takes too many steps", fmt::format("at most {} times solver.time_step", most_steps));
  solver.iterations = in.get<int>("iterations");
  solver.scheme = in.select<Scheme>("scheme");
  if (solver.scheme == Scheme::jacobi) solver.relaxation = in.get<double>("relaxation");
  if (solver.method == Method::xpbi) {
    solver.multiplier = in.get<Multiplier>("multiplier");
    solver.reference = in.get<Reference>("reference");
    solver.plasticity = in.get<Plasticity>("plasticity");
    solver.tolerance = in.get<double>("tolerance");
    const bool memory = solver.reference == Reference::memory;
    solver.volumes = in.get<Volumes>("volumes");
    if (memory && in.has("volumes") && in.accepted("volumes"))
      in.refuse("volumes", "is not used by reference memory", "it with reference current only");
    solver.release = in.get<bool>("release");
    if (solver.multiplier != Multiplier::scalar && in.has("release") && in.accepted("release"))
      in.refuse("release", fmt::format("is not used by multiplier {}", word(solver.multiplier)),
                "it with multiplier scalar only");
    solver.separation = in.get<Separation>("separation");
    solver.least_distance = in.get<double>("least_distance", memory ? 0.5 : 0.75);
    if (solver.separation == Separation::density && in.has("least_distance") && in.accepted("least_distance"))
      in.refuse("least_distance", "is not used by separation density", "it with separation distance only");
    solver.primal_residual = in.get<bool>("primal_residual");
    solver.xsph = in.get<double>("xsph");
    solver.hourglass = in.get<double>("hourglass", !memory ? 0.0 : flows ? 0.3 : 0.1);
    if (!memory && in.has("hourglass") && in.accepted("hourglass"))
      in.refuse("hourglass", "is not used by reference current", "it with reference memory only");
  } else {
    solver.gradient = in.get<Gradient>("gradient");
    solver.constraint = in.get<Constraint>("constraint");
    solver.hourglass = in.get<double>("hourglass", 0.1);
  }
  solver.smoothing = in.table("smoothing", [&](Reader& inner) {
    const bool rests = solver.reference == Reference::memory && !flows;
    return read_smoothing(inner, solver.method == Method::xpbi && !rests);
  });
  solver.precision = in.get<Precision>("precision");
  if (in.accepted("precision")) {
    const InPrecision precision(solver.precision);
    precision.check(in, "time_step", solver.time_step);
    precision.check_squares(in, "hourglass", solver.hourglass);
  }
  solver.damping = in.get<double>("damping");
  return solver;
}

Elastic read_elastic(Reader& in, ElasticModel usual, const InPrecision& precision) {
  const Elastic elastic{in.get<ElasticModel>("model", usual), in.get<double>("youngs_modulus"),
                        in.get<double>("poisson_ratio"), in.get<double>("inversion_below"),
                        in.get<Inversion>("inversion")};
  precision.check_least(in, "youngs_modulus", elastic.youngs_modulus);
  precision.check_squares(in, "youngs_modulus", elastic.youngs_modulus);
  return elastic;
}

/// The elastic law that a flow rule acts on. The additive split is one of the Green strain, whose energy is St.
/// Venant-Kirchhoff's (P0); return mappings are written for Hencky strains, snow and one form of cam-clay for theirs.
ElasticModel law_of(const Plastic& rule) {
  if (std::holds_alternative<Creep>(rule)) return ElasticModel::stvk;
  if (std::holds_alternative<Snow>(rule)) return ElasticModel::fixed_corotated;
  const auto* clay = std::get_if<CamClay>(&rule);
  return clay != nullptr && clay->form == CamClay::Form::neo_hookean ? ElasticModel::neo_hookean : ElasticModel::hencky;
}

/// Laws that XPBI has for bodies that do not flow.
void check_elastic_for_xpbi(Reader& in, const Elastic& elastic) {
  if (in.accepted("model") && elastic.model != ElasticModel::hencky && elastic.model != ElasticModel::neo_hookean)
    in.refuse("model", "is not used by method xpbi", "hencky or neo-hookean");
}

/// More than one multiplier per particle needs the strain itself; two of them the root of lambda.
void check_elastic_for_multiplier(Reader& in, const Elastic& elastic, Multiplier multiplier) {
  if (multiplier == Multiplier::pair && in.accepted("poisson_ratio") && elastic.poisson_ratio < 0)
    in.refuse("poisson_ratio", "does not go with solver.multiplier pair, whose volume part is sqrt(lambda) tr(eps)",
              "0 or more, or solver.multiplier scalar or tensor");
  if (!in.accepted("model") || elastic.model == ElasticModel::hencky) return;
  const std::string by_default =
      in.has("model") ? "" : fmt::format("is {} with this plastic.model, which ", word(elastic.model));
  in.refuse("model", fmt::format("{}does not go with solver.multiplier {}", by_default, word(multiplier)),
            "hencky, or solver.multiplier scalar");
}

/// The laws that are continued below a critical stretch; the others are defined for every F.
bool has_extension(ElasticModel model) {
  return model == ElasticModel::stvk || model == ElasticModel::neo_hookean || model == ElasticModel::hencky;
}

/// The keys of the extension, where nothing reads them. Return mappings limit stretches themselves, XPBI has the
/// continuous extension only, and multipliers that are strains the plain law.
void check_extension(Reader& in, const Elastic& elastic, Method method, Multiplier multiplier, bool maps_back) {
  const auto refuse = [&](std::string_view key, const std::string& what, const std::string& expected) {
    if (in.has(key) && in.accepted(key)) in.refuse(key, what, expected);
  };
  for (const std::string_view key : {"inversion_below", "inversion"})
    if (maps_back)
      refuse(key, "is not used by return mappings, which limit stretches themselves",
             "it without plastic, or with creep");
    else if (method == Method::total_lagrangian && in.accepted("model") && !has_extension(elastic.model))
      refuse(key, fmt::format("is not used by model {}", word(elastic.model)),
             "it with model stvk, neo-hookean or hencky only");
    else if (method == Method::xpbi && key == "inversion")
      refuse(key, "is not used by method xpbi", "it with method total-lagrangian only");
    else if (method == Method::xpbi && multiplier != Multiplier::scalar)
      refuse(key,
             fmt::format("is not used by solver.multiplier {}, which solves the law itself at every stretch",
                         word(multiplier)),
             "it with solver.multiplier scalar only");
}

Fiber read_fiber(Reader& in, const InPrecision& precision) {
  Fiber fiber;
  fiber.field = in.select<Fiber::Field>("field");
  if (fiber.field == Fiber::Field::constant) fiber.direction = in.get<Vector3d>("direction");
  fiber.stiffness = in.get<double>("stiffness");
  precision.check(in, "stiffness", fiber.stiffness);
  return fiber;
}

/// Without a known method every model is let through.
PlasticModel read_plastic_model(Reader& in, std::optional<Method> method) {
  if (!method) return in.select<PlasticModel>("model");
  return in.select<PlasticModel>("model", plastic_models(*method),
                                 fmt::format("is not used by method {}", word(*method)));
}

Plastic read_plastic(Reader& in, std::optional<Method> method) {
  switch (read_plastic_model(in, method)) {
    case PlasticModel::von_mises:
      return VonMises{in.get<double>("yield_stress"), in.get<double>("hardening")};
    case PlasticModel::drucker_prager:
      return DruckerPrager{in.get<double>("friction_angle"), in.get<double>("cohesion"),
                           in.get<bool>("volume_correction")};
    case PlasticModel::cam_clay:
      return CamClay{in.get<double>("slope"), in.get<double>("cohesion"), in.get<double>("hardening"),
                     in.get<double>("log_volume"), in.get<CamClay::Form>("form")};
    case PlasticModel::herschel_bulkley:
      return HerschelBulkley{in.get<double>("yield_stress"), in.get<double>("viscosity"), in.get<double>("power")};
    case PlasticModel::snow:
      return Snow{in.get<double>("critical_compression"), in.get<double>("critical_stretch"),
                  in.get<double>("hardening")};
    case PlasticModel::creep:
      return Creep{in.get<double>("yield_strain"), in.get<double>("rate"), in.get<double>("max_strain"),
                   in.get<bool>("deviatoric")};
  }
  return {};
}

Plastic read_checked_plastic(Reader& in, std::optional<Method> method, const InPrecision& precision) {
  Plastic rule = read_plastic(in, method);
  if (const auto* metal = std::get_if<VonMises>(&rule)) precision.check(in, "yield_stress", metal->yield_stress);
  if (const auto* paste = std::get_if<HerschelBulkley>(&rule)) {
    precision.check(in, "yield_stress", paste->yield_stress);
    precision.check(in, "viscosity", paste->viscosity);
  }
  return rule;
}

/// The elastic law that the flow rule of a material needs; none if it has no rule, or one that was refused.
std::optional<ElasticModel> needed_law(const Reader& in, std::optional<Method> method, const Plastic& rule) {
  if (!method || rule.index() == 0 || !in.accepted("plastic.model")) return std::nullopt;
  const auto model = static_cast<PlasticModel>(rule.index() - 1);
  if (std::ranges::count(plastic_models(*method), model) == 0) return std::nullopt;
  if (model == PlasticModel::cam_clay && !in.accepted("plastic.form")) return std::nullopt;
  return law_of(rule);
}

Material read_material(Reader& in, const std::string& name, std::optional<Method> method, Multiplier multiplier,
                       const InPrecision& precision) {
  Material material;
  material.name = name;
  material.density = in.get<double>("density");
  precision.check(in, "density", material.density);
  const auto plastic =
      in.optional_table("plastic", [&](Reader& inner) { return read_checked_plastic(inner, method, precision); });
  if (plastic) material.plastic = *plastic;
  const auto law = needed_law(in, method, material.plastic);
  material.elastic = in.table("elastic", [&](Reader& inner) {
    const ElasticModel usual = method == Method::xpbi ? ElasticModel::hencky : ElasticModel::neo_hookean;
    Elastic elastic = read_elastic(inner, law.value_or(usual), precision);
    if (method == Method::xpbi && !in.has("plastic")) check_elastic_for_xpbi(inner, elastic);
    if (method) check_extension(inner, elastic, *method, multiplier, law && method == Method::xpbi);
    if (method == Method::xpbi && multiplier != Multiplier::scalar) {
      check_elastic_for_multiplier(inner, elastic, multiplier);
      elastic.inversion_below = 0;
    }
    return elastic;
  });
  if (law && in.accepted("elastic.model") && material.elastic.model != *law)
    in.refuse("plastic.model", fmt::format("does not act on elastic.model {}", word(material.elastic.model)),
              fmt::format("elastic.model {} with it", word(*law)));
  material.fibers = in.list("fibers", [&](Reader& inner) { return read_fiber(inner, precision); });
  if (method == Method::xpbi && in.has("fibers"))
    in.refuse("fibers", "are not used by method xpbi", "method total-lagrangian with them");
  return material;
}

Eigen::Matrix3d read_rotation(Reader& in) {
  const auto axis = in.get<Vector3d>("axis");
  const auto degrees = in.get<double>("degrees");
  return Eigen::AngleAxisd(degrees * std::numbers::pi / 180, axis).toRotationMatrix();
}

std::string sha256_of_file(const fs::path& file) {
  Sha256 hash;
  std::ifstream stream(file, std::ios::binary);
  std::string piece(1 << 16, '\0');
  while (stream.read(piece.data(), static_cast<std::streamsize>(piece.size())), stream.gcount() > 0)
    hash.update(std::string_view(piece).substr(0, static_cast<std::size_t>(stream.gcount())));
  return hash.hex();
}

/// With an empty name the folder of the scene would be looked at.
bool refused_empty_name(Reader& in, const std::string& name) {
  if (name.empty()) in.refuse("file", "is empty", "the name of a file (OBJ, STL, PLY or OFF)");
  return name.empty();
}

geometry::Mesh read_mesh(Reader& in) {
  const auto name = in.get<std::string>("file");
  const auto scale = in.get<double>("scale");
  if (!in.accepted("file") || !in.accepted("scale") || refused_empty_name(in, name)) return {};
  const fs::path file = in.context().folder / name;
  try {
    auto triangles = std::make_shared<const geometry::TriangleMesh>(geometry::TriangleMesh::read(file, scale));
    in.record("file.sha256", sha256_of_file(file));
    return {std::move(triangles)};
  } catch (const InputError& error) {
    in.refuse("file", "cannot be used", fmt::format("a closed surface; {}", error.what()));
    return {};
  }
}

geometry::ShapeKind read_shape_kind(Reader& in, ShapeType type) {
  switch (type) {
    case ShapeType::box:
      return geometry::Box{in.get<Vector3d>("size")};
    case ShapeType::sphere:
      return geometry::Sphere{in.get<double>("radius")};
    case ShapeType::cylinder:
      return geometry::Cylinder{in.get<double>("radius"), in.get<double>("height")};
    case ShapeType::capsule:
      return geometry::Capsule{in.get<double>("radius"), in.get<double>("height")};
    case ShapeType::torus: {
      const geometry::Torus torus{in.get<double>("radius"), in.get<double>("tube")};
      if (torus.tube >= torus.radius)
        in.refuse("tube", "closes the hole of the torus", fmt::format("less than radius = {}", torus.radius));
      return torus;
    }
    case ShapeType::plane:
      return geometry::Plane{in.get<Vector3d>("normal"), in.get<Vector3d>("point")};
    case ShapeType::mesh:
      return read_mesh(in);
  }
  return {};
}

constexpr std::array all_shapes{ShapeType::box,   ShapeType::sphere, ShapeType::cylinder, ShapeType::capsule,
                                ShapeType::torus, ShapeType::mesh,   ShapeType::plane};
constexpr std::span solid_shapes = std::span(all_shapes).first<6>();

Shape read_shape(Reader& in, std::span<const ShapeType> allowed) {
  Shape shape;
  const auto type = in.select<ShapeType>("type", allowed, "cannot be filled with particles");
  shape.kind = read_shape_kind(in, type);
  if (type == ShapeType::plane) return shape;
  shape.position = in.get<Vector3d>("position");
  if (const auto rotation = in.optional_table("rotation", read_rotation)) shape.rotation = *rotation;
  return shape;
}

Shape read_region(Reader& in) { return read_shape(in, all_shapes); }

/// A shape whose placement stands inside its table or beside it.
Shape read_placed_shape(Reader& in, std::span<const ShapeType> allowed) {
  Shape shape = in.table("shape", [&](Reader& inner) {
    for (const std::string_view key : {"position", "rotation"})
      if (in.has(key) && inner.has(key))
        in.refuse(key, "is given here and inside the shape", "it in one of the two places");
    return read_shape(inner, allowed);
  });
  if (const auto position = in.find<Vector3d>("position")) shape.position = *position;
  if (const auto rotation = in.optional_table("rotation", read_rotation)) shape.rotation = *rotation;
  return shape;
}

Body read_body(Reader& in, const std::vector<Material>& materials, std::vector<std::string>& names,
               const InPrecision& precision) {
  Body body;
  body.name = in.unique_name(names);
  body.material = in.reference("material", names_of(materials)).value_or(0);
  body.spacing = in.get<double>("spacing");
  body.shape = read_placed_shape(in, solid_shapes);
  body.velocity = in.get<Vector3d>("velocity");
  body.angular_velocity = in.get<Vector3d>("angular_velocity");
  precision.check(in, "spacing", body.spacing);
  precision.check(in, "velocity", body.velocity);
  precision.check(in, "angular_velocity", body.angular_velocity);
  body.jitter = in.get<double>("jitter");
  body.relax = in.get<int>("relax", body.jitter > 0 ? 4 : 0);
  body.initial = in.table("initial", [&](Reader& inner) {
    const Initial initial{inner.get<Vector3d>("stretch"), inner.get<double>("scramble")};
    precision.check_squares(inner, "stretch", initial.stretch);
    precision.check_squares(inner, "scramble", initial.scramble);
    return initial;
  });
  body.place = in.place();
  return body;
}

struct Copies {
  Eigen::Vector3i count;
  Vector3d spacing;
  Eigen::Matrix3d rotation;
  bool valid;
};

Copies read_copies(Reader& in) {
  const auto count = in.get<Vector3d>("count");
  const auto spacing = in.get<Vector3d>("spacing");
  const auto rotation = in.optional_table("rotation", read_rotation).value_or(Eigen::Matrix3d::Identity());
  const bool whole = in.accepted("count") && count == count.array().round().matrix();
  if (in.accepted("count") && !whole) in.refuse("count", "is not a number of bodies", "three whole numbers");
  const Eigen::Vector3i bodies = whole ? Eigen::Vector3i(count.cast<int>()) : Eigen::Vector3i::Ones();
  return {bodies, spacing, rotation, whole && in.accepted("spacing")};
}

/// A body, or a block of equal ones: x varies fastest, then y, then z.
std::vector<Body> read_bodies(Reader& in, const std::vector<Material>& materials, std::vector<std::string>& names,
                              const InPrecision& precision) {
  const Body first = read_body(in, materials, names, precision);
  const auto copies = in.optional_table("copies", read_copies);
  if (in.has("copies") && !(copies && copies->valid)) in.context().incomplete.emplace("bodies");
  if (!copies || !copies->valid) return {first};
  constexpr double most_bodies = 100000;  // each has its own shape, name and line in reports
  if (double(names.size()) + copies->count.cast<double>().prod() > most_bodies) {
    in.context().incomplete.emplace("bodies");
    in.refuse("copies", "makes too many bodies", fmt::format("at most {} bodies in a scene", most_bodies));
    return {first};
  }
  const std::unordered_set<std::string> taken(names.begin(), names.end());
  std::vector<Body> block;
  for (int z = 0; z < copies->count.z(); ++z)
    for (int y = 0; y < copies->count.y(); ++y)
      for (int x = 0; x < copies->count.x(); ++x) {
        Body body = block.empty() ? first : block.back();
        body.name = fmt::format("{}-{}", first.name, block.size() + 1);
        body.shape.position = first.shape.position + copies->spacing.cwiseProduct(Vector3d(x, y, z));
        if (!block.empty()) body.shape.rotation = copies->rotation * body.shape.rotation;
        if (taken.contains(body.name))
          in.refuse("copies", fmt::format("makes a second body {}", in_quotes(body.name)), "another name");
        names.push_back(body.name);
        block.push_back(std::move(body));
      }
  return block;
}

Motion read_motion(Reader& in, const InPrecision& precision) {
  const Motion motion{in.get<Vector3d>("velocity"), in.get<Vector3d>("angular_velocity"), in.get<Vector3d>("about")};
  precision.check_squares(in, "velocity", motion.velocity);
  precision.check_squares(in, "angular_velocity", motion.angular_velocity);
  precision.check_squares(in, "about", motion.about);
  return motion;
}

/// Stands for a name that was refused.
constexpr auto nothing = std::numeric_limits<std::size_t>::max();

Fixture read_fixture(Reader& in, const std::vector<Body>& bodies, std::vector<std::string>& names,
                     const InPrecision& precision) {
  Fixture fixture;
  fixture.name = in.unique_name(names);
  fixture.body = in.reference("body", names_of(bodies)).value_or(nothing);
  fixture.region = in.table("region", read_region);
  fixture.motion = in.table("motion", [&](Reader& inner) { return read_motion(inner, precision); });
  fixture.release_at = in.find<double>("release_at");
  fixture.place = in.place_of("region");
  return fixture;
}

/// Distances from its surface are taken on the device.
void check_collider_shape(Reader& in, const Shape& shape, const InPrecision& precision) {
  if (const auto* plane = std::get_if<geometry::Plane>(&shape.kind)) {
    precision.check_squares(in, "shape.point", plane->point);
    return;
  }
  precision.check_squares(in, in.has("position") ? "position" : "shape.position", shape.position);
  if (const auto* box = std::get_if<geometry::Box>(&shape.kind)) precision.check_squares(in, "shape.size", box->size);
  if (const auto* sphere = std::get_if<geometry::Sphere>(&shape.kind))
    precision.check_squares(in, "shape.radius", sphere->radius);
  const auto round = [&](const auto* solid) {
    if (solid == nullptr) return;
    precision.check_squares(in, "shape.radius", solid->radius);
    precision.check_squares(in, "shape.height", solid->height);
  };
  round(std::get_if<geometry::Cylinder>(&shape.kind));
  round(std::get_if<geometry::Capsule>(&shape.kind));
  if (const auto* torus = std::get_if<geometry::Torus>(&shape.kind))
    precision.check_squares(in, "shape.radius", torus->radius);
  if (const auto* mesh = std::get_if<geometry::Mesh>(&shape.kind); mesh != nullptr && mesh->triangles != nullptr) {
    const auto bounds = mesh->triangles->bounds();
    precision.check_squares(in, "shape.scale", Vector3d(bounds.min().cwiseAbs().cwiseMax(bounds.max().cwiseAbs())));
  }
}

Collider read_collider(Reader& in, std::vector<std::string>& names, const InPrecision& precision) {
  Collider collider;
  collider.name = in.unique_name(names, fmt::format("collider{}", names.size() + 1));
  collider.shape = read_placed_shape(in, all_shapes);
  for (const std::string_view key : {"position", "rotation"})
    if (in.has(key) && std::holds_alternative<geometry::Plane>(collider.shape.kind))
      in.refuse(key, "is not used by a plane", "normal and point inside the shape");
  check_collider_shape(in, collider.shape, precision);
  collider.motion = in.table("motion", [&](Reader& inner) { return read_motion(inner, precision); });
  collider.friction = in.get<double>("friction");
  collider.inside = in.get<bool>("inside");
  return collider;
}

geometry::Patch read_patch(Reader& in) {
  if (in.select<PatchType>("type") == PatchType::rectangle)
    return geometry::Patch::rectangle(in.get<double>("width"), in.get<double>("height"));
  const auto name = in.get<std::string>("file");
  const auto scale = in.get<double>("scale");
  if (!in.accepted("file") || !in.accepted("scale") || refused_empty_name(in, name)) return {};
  const fs::path file = in.context().folder / name;
  try {
    auto patch = geometry::Patch::read(file, scale);
    in.record("file.sha256", sha256_of_file(file));
    return patch;
  } catch (const InputError& error) {
    in.refuse("file", "cannot be used", fmt::format("triangles; {}", error.what()));
    return {};
  }
}

Cut read_cut(Reader& in, std::vector<std::string>& names, const InPrecision& precision) {
  Cut cut;
  cut.name = in.unique_name(names, fmt::format("cut{}", names.size() + 1));
  cut.patch = in.table("shape", read_patch);
  const auto position = in.get<Vector3d>("position");
  const auto rotation = in.optional_table("rotation", read_rotation).value_or(Eigen::Matrix3d::Identity());
  cut.patch.place(rotation, position);
  cut.motion = in.table("motion", [&](Reader& inner) { return read_motion(inner, precision); });
  cut.from = in.get<double>("from");
  cut.until = in.find<double>("until");
  if (cut.until && *cut.until <= cut.from)
    in.refuse("until", "is not after the start", fmt::format("a time after from = {}", cut.from));
  return cut;
}

Contact read_contact(Reader& in) { return {true, in.get<double>("friction"), in.get<bool>("self")}; }

Probe read_probe(Reader& in, const Scene& scene, std::vector<std::string>& names) {
  Probe probe;
  probe.name = in.unique_name(names);
  probe.quantity = in.select<Probe::Quantity>("quantity");
  const auto body = in.reference("body", names_of(scene.bodies));
  if (probe.quantity == Probe::Quantity::mean_position) {
    probe.body = body.value_or(0);
    probe.region = in.optional_table("region", read_region);
    probe.place = in.place_of("region");
    return probe;
  }
  const auto fixture = in.reference("fixture", names_of(scene.fixtures));
  if (!fixture) return probe;
  probe.fixture = *fixture;
  probe.body = scene.fixtures[*fixture].body;
  if (body && probe.body != nothing && *body != probe.body)
    in.refuse("body", fmt::format("is not the body of fixture {}", in_quotes(scene.fixtures[*fixture].name)),
              in_quotes(scene.bodies[probe.body].name) + ", or no body");
  return probe;
}

Output read_output(Reader& in) {
  Output output;
  output.interval = in.get<double>("interval");
  output.fields = in.get<std::vector<Field>>("fields");
  output.checkpoint_interval = in.get<double>("checkpoint_interval", 10 * output.interval);
  return output;
}

Scene read_top_level(Reader& in, const fs::path& file) {
  Scene scene;
  scene.file = file;
  scene.title = in.find<std::string>("title").value_or(file.stem().string());
  const bool flows = in.any_has("materials", "plastic");
  scene.solver = in.table("solver", [&](Reader& inner) { return read_solver(inner, flows); });
  // An unknown precision is one problem, not many.
  const InPrecision precision(in.accepted("solver.precision") ? scene.solver.precision : Precision::double_precision);
  scene.gravity = in.table("world", [&](Reader& inner) {
    const auto gravity = inner.get<Vector3d>("gravity");
    precision.check(inner, "gravity", gravity);
    return gravity;
  });
  const auto method = in.accepted("solver.method") ? std::optional(scene.solver.method) : std::nullopt;
  scene.materials = in.named("materials", [&](Reader& inner, const std::string& name) {
    return read_material(inner, name, method, scene.solver.multiplier, precision);
  });
  std::vector<std::string> bodies, fixtures, colliders, cuts, probes;
  for (auto& block : in.list("bodies", [&](Reader& inner) {
         auto block = read_bodies(inner, scene.materials, bodies, precision);
         if (inner.accepted("spacing") && in.accepted("solver.time_step"))
           precision.check_compliance(inner, block[0].spacing, scene.solver.time_step);
         // Without any material the one that the body names can't be judged.
         if (method == Method::xpbi && inner.has("initial") && !block.empty() && !scene.materials.empty()) {
           const bool elastic = std::holds_alternative<std::monostate>(scene.materials.at(block[0].material).plastic);
           if (!elastic || scene.solver.reference != Reference::memory || scene.solver.multiplier != Multiplier::scalar)
             inner.refuse("initial", "needs a body that knows its rest shape",
                          "an elastic material, reference memory and multiplier scalar with method xpbi, or method "
                          "total-lagrangian");
         }
         return block;
       }))
    std::move(block.begin(), block.end(), std::back_inserter(scene.bodies));
  scene.fixtures =
      in.list("fixtures", [&](Reader& inner) { return read_fixture(inner, scene.bodies, fixtures, precision); });
  scene.colliders = in.list("colliders", [&](Reader& inner) { return read_collider(inner, colliders, precision); });
  scene.cuts = in.list("cuts", [&](Reader& inner) { return read_cut(inner, cuts, precision); });
  if (!scene.cuts.empty() && method && *method != Method::total_lagrangian)
    in.refuse("cuts", fmt::format("is not used by method {}", word(*method)), "it only with total-lagrangian");
  scene.contact = in.optional_table("contact", read_contact).value_or(Contact{});
  if (scene.contact.enabled && method == Method::xpbi && scene.solver.reference == Reference::current)
    in.refuse("contact", "is not used by solver.reference current, where neighbours of any body interact",
              "it with reference memory only");
  scene.probes = in.list("probes", [&](Reader& inner) { return read_probe(inner, scene, probes); });
  scene.output = in.table("output", [&](Reader& inner) {
    Output output = read_output(inner);
    if (method && *method != Method::total_lagrangian && std::ranges::count(output.fields, Field::piece) > 0)
      inner.refuse("fields", fmt::format("has piece, which method {} does not know", word(*method)),
                   "it without piece");
    return output;
  });
  in.refuse_unread();
  return scene;
}

std::string digest_of(std::map<std::string, std::string> effective) {
  effective.erase("solver.end_time");  // a longer run continues a shorter one
  std::string text;
  for (const auto& [key, value] : effective) text += fmt::format("{} = {}\n", key, value);
  return sha256(text);
}

/// The whole file, if it can be a scene.
std::string read_bytes(const fs::path& file) {
  constexpr std::uintmax_t most = 16 << 20;  // bytes; larger than any scene, small enough to hold twice
  const std::string name = file.string();
  std::error_code error;
  const auto status = fs::status(file, error);
  if (error || !fs::exists(status))
    throw InputError(fmt::format("{}: cannot be read: {}; check the path of the scene file", name,
                                 error ? error.message() : std::strerror(ENOENT)));
  if (fs::is_directory(status))
    throw InputError(fmt::format("{}: is a directory; give the scene file (TOML) in it", name));
  if (!fs::is_regular_file(status))
    throw InputError(fmt::format("{}: is not a regular file; save the scene to a file first", name));
  if (const auto size = fs::file_size(file, error); !error && size > most)
    throw InputError(fmt::format("{}: has {} bytes, a scene at most {}; is it a scene file (TOML)?", name, size, most));
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  std::string bytes;
  if (stream) bytes.assign(std::istreambuf_iterator<char>(stream), {});
  if (!stream || stream.bad())
    throw InputError(fmt::format("{}: cannot be read: {}; check its permissions", name, std::strerror(errno)));
  if (bytes.empty()) throw InputError(fmt::format("{}: is empty; expected a scene (TOML)", name));
  return bytes;
}

/// The parser's sentences start with a capital, often with "Error while parsing".
std::string syntax_message(const toml::parse_error& error) {
  std::string text(error.description());
  if (text.starts_with("Error ")) text.erase(0, 6);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return "this is not TOML: " + text;
}

}  // namespace

Scene read_scene(const fs::path& file, const std::vector<std::string>& overrides) {
  return parse_scene(read_bytes(file), file, overrides);
}

Scene parse_scene(const std::string& text, const fs::path& file, const std::vector<std::string>& overrides) {
  ReadContext context{Problems(file.string()), file.parent_path(), {}, {}};
  toml::table values;
  try {
    values = parse_toml(text, file.string());
  } catch (const toml::parse_error& error) {
    context.problems.add(error.source(), syntax_message(error),
                         "expected lines of key = value, [table] and [[list of tables]]");
  }
  context.problems.throw_if_any();

  apply_overrides(values, overrides, context.problems);
  Reader top(context, table(""), "", values, values.source());
  Scene scene = read_top_level(top, file);
  context.problems.throw_if_any();
  scene.sha256 = sha256(text);
  scene.digest = digest_of(std::move(context.effective));
  return scene;
}

}  // namespace ductile::scene
