#include "app/probe.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/error.hpp"
#include "kernels/materials/fibers.hpp"
#include "solvers/laws.hpp"

namespace ductile::app {

namespace {

using Matrix = Mat3<double>;
using Numbers = std::vector<double>;

/// A material as the probe sees it. The state is a list of numbers: one, nine or none.
struct Model {
  struct Advanced {
    Matrix F_elastic;
    Numbers state;
  };

  bool plastic = false;
  bool additive = false;  ///< plastic strain beside F, not a factor of it
  bool needs_time_step = false;
  std::string state_key;
  Numbers initial_state;
  std::function<Advanced(const Matrix& F_trial, const Numbers& state, double time_step)> advance =
      [](const Matrix& F, const Numbers& state, double) {
        return Advanced{F, state};
      };
  std::function<Response<double>(const Matrix& F_elastic, const Numbers& state)> response;
  double stiffness = 0;  ///< 2 mu + 3 lambda, scale of the stresses [Pa]
};

template <class Law>
void set_law(Model& model, const Law& law) {
  model.response = [law](const Matrix& F, const Numbers&) { return law.response(F); };
}

/// A return mapping whose state is one number, the member `value` of its State.
template <class Mapping, class State>
void set_mapping(Model& model, const Mapping& mapping, const std::string& key, double State::*value, double initial) {
  model.plastic = true;
  model.state_key = key;
  model.initial_state = {initial};
  const auto unpack = [value](const Numbers& numbers) {
    State state{};
    state.*value = numbers.front();
    return state;
  };
  model.advance = [=](const Matrix& F, const Numbers& state, double time_step) {
    const auto projected = mapping.project(F, unpack(state), time_step);
    return Model::Advanced{projected.F, {projected.state.*value}};
  };
  model.response = [=](const Matrix& F, const Numbers& state) {
    const Matrix tau = mapping.kirchhoff(F, unpack(state));
    return Response<double>{mapping.energy(F, unpack(state)), tau * transpose(inverse(F))};
  };
}

void set_plastic(Model& model, const scene::VonMises& source, const scene::Elastic& elastic) {
  with_mapping<double>(source, lame_of(elastic), [&](const auto& mapping) {
    set_mapping(model, mapping, "yield_stress", &VonMises<double>::State::yield_stress, initial_state(source));
  });
}

void set_plastic(Model& model, const scene::DruckerPrager& source, const scene::Elastic& elastic) {
  with_mapping<double>(source, lame_of(elastic), [&](const auto& mapping) {
    set_mapping(model, mapping, "volume_correction", &DruckerPrager<double>::State::volume_correction,
                initial_state(source));
  });
}

void set_plastic(Model& model, const scene::CamClay& source, const scene::Elastic& elastic) {
  with_mapping<double>(source, lame_of(elastic), [&](const auto& mapping) {
    set_mapping(model, mapping, "log_volume", &CamClaySurface<double>::State::log_volume, initial_state(source));
  });
}

void set_plastic(Model& model, const scene::HerschelBulkley& source, const scene::Elastic& elastic) {
  with_mapping<double>(source, lame_of(elastic), [&](const auto& mapping) {
    model.plastic = true;
    model.needs_time_step = true;
    model.advance = [mapping](const Matrix& F, const Numbers& state, double time_step) {
      return Model::Advanced{mapping.project(F, {}, time_step).F, state};
    };
    set_law(model, mapping.elastic());
  });
}

void set_plastic(Model& model, const scene::Snow& source, const scene::Elastic& elastic) {
  with_mapping<double>(source, lame_of(elastic), [&](const auto& mapping) {
    set_mapping(model, mapping, "plastic_volume_ratio", &Snow<double>::State::plastic_volume_ratio,
                initial_state(source));
  });
}

void set_plastic(Model& model, const scene::Creep& source, const scene::Elastic& elastic) {
  const auto creep = creep_law<double>(source, elastic);
  const auto unpack = [](const Numbers& state) {
    Matrix strain{};
    std::copy(state.begin(), state.end(), strain.m);
    return Creep<double>::State{Sym3<double>::from(strain)};
  };
  model.plastic = true;
  model.additive = true;
  model.state_key = "plastic_strain";
  model.initial_state = Numbers(9, 0.0);
  model.advance = [=](const Matrix& F, const Numbers& state, double time_step) {
    if (!(time_step > 0)) return Model::Advanced{F, state};
    const Matrix strain = creep.update(F, unpack(state), time_step).plastic_strain.full();
    return Model::Advanced{F, Numbers(strain.m, strain.m + 9)};
  };
  model.response = [=](const Matrix& F, const Numbers& state) { return creep.response(F, unpack(state)); };
}

void set_plastic(Model&, const std::monostate&, const scene::Elastic&) {}

FiberFamily<double> fiber_family(const scene::Fiber& fiber) {
  using Field = scene::Fiber::Field;
  const auto direction = [&]() -> Vec3<double> {
    if (fiber.field == Field::axis) return {0, 0, 1};
    if (fiber.field == Field::radial) return {1, 0, 0};
    if (fiber.field == Field::circumferential) return {0, 1, 0};
    return {fiber.direction.x(), fiber.direction.y(), fiber.direction.z()};
  }();
  return {direction, fiber.stiffness};
}

Model make_model(const scene::Material& material) {
  Model model;
  const auto lame = lame_of(material.elastic);
  model.stiffness = 2 * lame.mu + 3 * std::abs(lame.lambda);
  with_elastic_law<double>(material.elastic, [&](const auto& law) { set_law(model, law); });
  std::visit([&](const auto& source) { set_plastic(model, source, material.elastic); }, material.plastic);
  for (const auto& fiber : material.fibers)
    model.response = [isotropic = model.response, family = fiber_family(fiber)](const Matrix& F, const Numbers& state) {
      Response<double> sum = isotropic(F, state);
      sum += family.response(F);
      return sum;
    };
  return model;
}

/// The response, or an error where the law has none.
Response<double> checked_response(const Model& model, const scene::Material& material, const Matrix& F,
                                  const Numbers& state) {
  const Response<double> response = model.response(F, state);
  if (std::isfinite(response.energy) && std::isfinite(norm(response.stress))) return response;
  if (!(determinant(F) <= 0))
    throw InputError(fmt::format(
        "The law of material \"{}\" overflows at this F: its stretches are too large, or too near to 0. Give "
        "an F nearer to the identity.",
        material.name));
  throw InputError(
      fmt::format("The law of material \"{}\" has no value at this F, whose determinant is {:g}. Set "
                  "materials.{}.elastic.inversion_below above 0, or give an F of positive determinant.",
                  material.name, determinant(F), material.name));
}

double checked_time_step(const Model& model, const scene::Material& material, std::optional<double> time_step) {
  if (time_step && !(*time_step > 0 && std::isfinite(*time_step)))
    throw InputError(fmt::format("--dt {:g} is not a time step: give seconds above 0.", *time_step));
  if (model.needs_time_step && !time_step)
    throw InputError(
        fmt::format("Material \"{}\" flows at a rate (plastic.model herschel-bulkley): give the time step, "
                    "for example --dt 1e-4.",
                    material.name));
  return time_step.value_or(0);
}

Numbers parse_numbers(const std::string& text, const std::string& what) {
  Numbers numbers;
  const char *at = text.data(), *end = text.data() + text.size();
  while (true) {
    double value = 0;
    const auto [stop, error] = std::from_chars(at, end, value);
    if (error != std::errc() || !std::isfinite(value))
      throw InputError(fmt::format("{}: \"{}\" is not a number or a list of numbers separated by commas.", what, text));
    numbers.push_back(value);
    if (stop == end) return numbers;
    if (*stop != ',')
      throw InputError(fmt::format("{}: \"{}\" is not a number or a list of numbers separated by commas.", what, text));
    at = stop + 1;
  }
}

void check_state(const Model& model, const Numbers& state, const std::string& text) {
  if (state.size() != model.initial_state.size())
    throw InputError(fmt::format("--state {}: {} has {} numbers, not {}.", text, model.state_key,
                                 model.initial_state.size(), state.size()));
  if (state.size() == 9 && (state[1] != state[3] || state[2] != state[6] || state[5] != state[7]))
    throw InputError(
        fmt::format("--state {}: {} is a strain, give a symmetric matrix row by row.", text, model.state_key));
  const bool positive = model.state_key == "yield_stress" || model.state_key == "plastic_volume_ratio";
  if (positive && !(state.front() > 0))
    throw InputError(fmt::format("--state {}: {} is above 0.", text, model.state_key));
}

/// The initial state with what `key=value` texts change.
Numbers parse_state(const Model& model, const scene::Material& material, const std::vector<std::string>& texts) {
  Numbers state = model.initial_state;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    const std::string key = text.substr(0, equals);
    if (equals == std::string::npos || model.state_key.empty() || key != model.state_key)
      throw InputError(fmt::format("--state {}: material \"{}\" {}.", text, material.name,
                                   model.state_key.empty()
                                       ? "has no state"
                                       : fmt::format("has the state {0}; write --state {0}=VALUE", model.state_key)));
    if (&text != &texts.front())
      throw InputError(
          fmt::format("--state {}: {} was given already, by --state {}; give it once.", text, key, texts.front()));
    state = parse_numbers(text.substr(equals + 1), "--state " + key);
    check_state(model, state, text);
  }
  return state;
}

std::string json_text(const Matrix& a) { return nlohmann::json(Numbers(a.m, a.m + 9)).dump(); }

// ---- paths ----

/// Total deformation gradient of a path, and the material at it.
struct PathPoint {
  Matrix F = Matrix::identity();
  Matrix F_elastic = Matrix::identity();
  Numbers state;
  Response<double> response{0, Matrix::zero()};
};

/// The material after the total deformation gradient has gone from the last point to F.
PathPoint follow(const Model& model, const PathPoint& last, const Matrix& F, double time_step) {
  if (!model.plastic) return {F, F, last.state, model.response(F, last.state)};
  const Matrix trial = model.additive ? F : F * inverse(last.F) * last.F_elastic;
  const auto advanced = model.advance(trial, last.state, time_step);
  return {F, advanced.F_elastic, advanced.state, model.response(advanced.F_elastic, advanced.state)};
}

/// tau = P_e F_e^T of the elastic state.
Matrix kirchhoff_stress(const PathPoint& point) { return times_transpose(point.response.stress, point.F_elastic); }

/// Force per rest area of the whole deformation, P = tau F^{-T}: where F_e is a part of F only, dPsi/dF_e is not that.
Matrix nominal_stress(const Model& model, const PathPoint& point) {
  const bool whole = !model.plastic || model.additive;
  return whole ? point.response.stress : kirchhoff_stress(point) * transpose(inverse(point.F));
}

/// Changes of F that leave F e1 alone: what free lateral faces choose. Without fibres the cross-section keeps its
/// shape.
std::vector<Matrix> lateral_changes(const scene::Material& material) {
  if (material.fibers.empty()) return {Matrix::diagonal({0, 1, 1})};
  return {Matrix::diagonal({0, 1, 0}), Matrix::diagonal({0, 0, 1}), Matrix{{0, 0, 0, 0, 0, 1, 0, 1, 0}},
          Matrix{{0, 1, 0, 0, 0, 0, 0, 0, 0}}, Matrix{{0, 0, 1, 0, 0, 0, 0, 0, 0}}};
}

/// Finds the point with the given F e1 whose lateral faces carry no traction, by the nominal stress of the total
/// deformation, P = tau F^{-T}. Without fibres one stretch of both sides is unknown, and its root is bracketed: a
/// material that came apart at the tip of its yield surface has a traction that does not change with the sides, where a
/// Newton method has nothing to follow. With fibres it is a damped Newton method.
class LateralFaces {
 public:
  LateralFaces(const Model& model, const scene::Material& material, double time_step)
      : model_(model), material_(material), changes_(lateral_changes(material)), time_step_(time_step) {}

  /// The point at this stretch next to the last one.
  [[nodiscard]] PathPoint release(const PathPoint& last, double stretch) const {
    const Matrix F = changes_.size() == 1 ? bracketed(last, stretch) : by_newton(last, stretch);
    return follow(model_, last, F, time_step_);
  }

 private:
  /// F and the norm of the tractions on its lateral faces.
  struct Trial {
    Matrix F;
    double residual;
  };

  // ---- without fibres ----

  /// Goes from the last sides to where the traction pulls or pushes them, in short steps, until it changes its sign.
  [[nodiscard]] Matrix bracketed(const PathPoint& last, double stretch) const {
    const double side = last.F.m[4], start = side_traction(last, stretch, side);
    // Nothing holds the sides: they stay.
    if (std::abs(start) < 1e-14 * model_.stiffness) return bar(stretch, side);
    const double axial = std::abs(stretch - last.F.m[0]);
    const double reach = farthest(axial) / 2;  // of each side: both together stay within `farthest`
    const double end = start > 0 ? std::max(side - reach, 1e-3 * side) : side + reach;
    constexpr int most = 64;
    double before = side, least = std::abs(start);
    for (int k = 1; k <= most; ++k) {
      const double next = side + (end - side) * k / most, traction = side_traction(last, stretch, next);
      if (!std::isfinite(traction)) break;
      least = std::min(least, std::abs(traction));
      if (traction * start <= 0) return bisected(last, stretch, before, next, start > 0);
      before = next;
    }
    throw no_equilibrium(stretch, least);
  }
  /// The side between these two where the traction vanishes; `pulled`: it is above 0 at the first.
  [[nodiscard]] Matrix bisected(const PathPoint& last, double stretch, double one, double other, bool pulled) const {
    while (true) {
      const double middle = 0.5 * (one + other);
      if (middle == one || middle == other) break;
      const double traction = side_traction(last, stretch, middle);
      (traction != 0 && (traction > 0) == pulled ? one : other) = middle;
    }
    const double at_one = std::abs(side_traction(last, stretch, one)),
                 at_other = std::abs(side_traction(last, stretch, other));
    if (!(std::min(at_one, at_other) < rounding())) throw no_equilibrium(stretch, std::min(at_one, at_other));
    return bar(stretch, at_one < at_other ? one : other);
  }
  static Matrix bar(double stretch, double side) { return Matrix::diagonal({stretch, side, side}); }
  [[nodiscard]] double side_traction(const PathPoint& last, double stretch, double side) const {
    return contract(nominal_stress(model_, follow(model_, last, bar(stretch, side), time_step_)), changes_.front());
  }
  [[nodiscard]] InputError no_equilibrium(double stretch, double traction) const {
    return InputError(
        fmt::format("Material \"{}\" has no equilibrium with free lateral faces at stretch {:g}: wherever they go, a "
                    "traction of {:.3g} Pa or more is left on them. End the path before this stretch, or use another "
                    "path.",
                    material_.name, stretch, traction));
  }

  // ---- with fibres ----

  /// From sides that stay, or else from sides that keep the volume.
  [[nodiscard]] Matrix by_newton(const PathPoint& last, double stretch) const {
    Matrix unchanged = last.F, isochoric = last.F;
    unchanged.m[0] = isochoric.m[0] = stretch;
    const double narrowing = std::sqrt(last.F.m[0] / stretch);
    for (const int entry : {1, 2, 4, 5, 7, 8}) isochoric.m[entry] *= narrowing;
    Trial best = newton(last, unchanged);
    if (!(best.residual < rounding())) {
      const Trial other = newton(last, isochoric);
      if (other.residual < best.residual) best = other;
    }
    if (!(best.residual < rounding()))
      throw InputError(
          fmt::format("Material \"{}\" finds no equilibrium with free lateral faces at stretch {:g}: a "
                      "traction of {:.3g} Pa is left. Use smaller steps, or another path.",
                      material_.name, stretch, best.residual));
    return best.F;
  }
  [[nodiscard]] Trial newton(const PathPoint& last, Matrix F) const {
    Eigen::VectorXd residual = traction(last, F);
    double damping = 0;
    for (int iteration = 0; iteration < 200 && residual.norm() > 0; ++iteration) {
      const Eigen::MatrixXd A = derivative(last, F);
      const Eigen::MatrixXd damped =
          A.transpose() * A + damping * stiffness2() * Eigen::MatrixXd::Identity(A.cols(), A.cols());
      const Eigen::VectorXd step = damping > 0 ? Eigen::VectorXd(damped.ldlt().solve(A.transpose() * residual))
                                               : Eigen::VectorXd(A.colPivHouseholderQr().solve(residual));
      const Matrix moved = changed(F, -step);
      const Eigen::VectorXd next = traction(last, moved);
      if (next.norm() < residual.norm()) {
        F = moved;
        residual = next;
        damping = damping < 1e-9 ? 0 : damping / 10;
      } else if (residual.norm() < rounding()) {
        break;  // rounding decides from here on
      } else {
        damping = std::max(10 * damping, 1e-8);
      }
    }
    return {F, residual.norm()};
  }
  [[nodiscard]] Matrix changed(Matrix F, const Eigen::VectorXd& amounts) const {
    for (std::size_t k = 0; k < changes_.size(); ++k) F += changes_[k] * amounts[Eigen::Index(k)];
    return F;
  }
  [[nodiscard]] Eigen::VectorXd traction(const PathPoint& last, const Matrix& F) const {
    const auto n = Eigen::Index(changes_.size());
    const Matrix moved = F - last.F;
    if (!(norm(moved) < farthest(std::abs(moved.m[0])))) return Eigen::VectorXd::Constant(n, 1e3 * model_.stiffness);
    const Matrix P = nominal_stress(model_, follow(model_, last, F, time_step_));
    Eigen::VectorXd result(n);
    for (Eigen::Index k = 0; k < n; ++k) result[k] = contract(P, changes_[std::size_t(k)]);
    return result.allFinite() ? result : Eigen::VectorXd::Constant(n, 1e3 * model_.stiffness);
  }
  [[nodiscard]] Eigen::MatrixXd derivative(const PathPoint& last, const Matrix& F) const {
    const auto n = Eigen::Index(changes_.size());
    const double h = 1e-6;
    Eigen::MatrixXd result(n, n);
    for (Eigen::Index k = 0; k < n; ++k) {
      const Eigen::VectorXd amount = h * Eigen::VectorXd::Unit(n, k);
      result.col(k) = (traction(last, changed(F, amount)) - traction(last, changed(F, -amount))) / (2 * h);
    }
    return result;
  }

  [[nodiscard]] double rounding() const { return 1e-11 * model_.stiffness; }
  [[nodiscard]] double stiffness2() const { return model_.stiffness * model_.stiffness; }
  /// Faces do not move five times as far as the ends: beyond lie states of another branch, or of a material that has
  /// softened to nothing.
  static double farthest(double axial) { return 5 * axial + 1e-5; }

  const Model& model_;
  const scene::Material& material_;
  std::vector<Matrix> changes_;
  double time_step_;
};

PathPoint step_to(const Model& model, const LateralFaces& faces, ProbePath path, const PathPoint& last, double stretch,
                  double time_step) {
  if (path == ProbePath::shear) return follow(model, last, {{1, stretch, 0, 0, 1, 0, 0, 0, 1}}, time_step);
  if (path == ProbePath::volumetric) return follow(model, last, Matrix::identity() * stretch, time_step);
  return faces.release(last, stretch);
}

/// Parts into which a change of the stretch is divided. An elastic material forgets its way, so that it may be led in
/// short steps that keep free faces on the branch that starts at rest; a plastic one is loaded as it was told.
int parts(const Model& model, double change, double step) {
  const double longest = model.plastic ? std::max(std::abs(step), 1e-3) : 0.02;
  return std::max(1, static_cast<int>(std::ceil(std::abs(change) / longest - 1e-9)));
}

void check_path(const Model& model, ProbePath path, double from, double to, int steps) {
  if (steps < 1) throw InputError(fmt::format("--steps {} is not a number of steps: give 1 or more.", steps));
  if (!std::isfinite(from) || !std::isfinite(to)) throw InputError("--from and --to are finite numbers.");
  const bool positive = path == ProbePath::uniaxial || (path == ProbePath::volumetric && model.plastic);
  if (positive && !(from > 0 && to > 0))
    throw InputError(fmt::format("--from {:g} --to {:g}: stretches are above 0 (1 is rest).", from, to));
}

void append_row(std::string& csv, const Model& model, double stretch, const PathPoint& point) {
  csv += fmt::format("{},{}", stretch, point.response.energy);
  for (const double value : nominal_stress(model, point).m) csv += fmt::format(",{}", value);
  for (const double value : kirchhoff_stress(point).m) csv += fmt::format(",{}", value);
  csv += '\n';
}

std::string path_header() {
  std::string header = "stretch,energy";
  for (const char* name : {"P", "tau"})
    for (int k = 0; k < 9; ++k) header += fmt::format(",{}{}{}", name, k / 3 + 1, k % 3 + 1);
  return header + '\n';
}

}  // namespace

std::string probe_point(const scene::Material& material, const Mat3<double>& F, std::optional<double> time_step,
                        const std::vector<std::string>& state) {
  const Model model = make_model(material);
  if (!std::all_of(std::begin(F.m), std::end(F.m), [](double f) { return std::isfinite(f); }))
    throw InputError("--F has numbers that are not finite.");
  if (!std::isfinite(norm(F)))
    throw InputError(fmt::format(
        "--F is too large for the law of material \"{}\", which squares it. Give an F nearer to the identity.",
        material.name));
  const double dt = checked_time_step(model, material, time_step);
  const Numbers before = parse_state(model, material, state);
  const auto advanced = model.advance(F, before, dt);
  const Response<double> response = checked_response(model, material, advanced.F_elastic, advanced.state);

  std::string json =
      fmt::format("{{\n  \"energy\": {},\n  \"P\": {},\n  \"tau\": {}", nlohmann::json(response.energy).dump(),
                  json_text(response.stress), json_text(times_transpose(response.stress, advanced.F_elastic)));
  if (model.plastic) {
    nlohmann::json values = nlohmann::json::object();
    if (advanced.state.size() == 1) values[model.state_key] = advanced.state.front();
    if (advanced.state.size() > 1) values[model.state_key] = advanced.state;
    json += fmt::format(",\n  \"F_elastic\": {},\n  \"state\": {}", json_text(advanced.F_elastic), values.dump());
  }
  return json + "\n}\n";
}

std::string probe_path(const scene::Material& material, ProbePath path, double from, double to, int steps,
                       std::optional<double> time_step) {
  const Model model = make_model(material);
  check_path(model, path, from, to, steps);
  const double dt = checked_time_step(model, material, time_step);
  const LateralFaces faces(model, material, dt);
  PathPoint point;
  point.state = model.initial_state;
  double stretch = path == ProbePath::shear ? 0 : 1;
  const auto lead_to = [&](double target, int count) {
    const double start = stretch;
    for (int k = 1; k <= count; ++k) {
      stretch = k == count ? target : start + (target - start) * k / count;
      point = step_to(model, faces, path, point, stretch, dt);
      checked_response(model, material, point.F_elastic, point.state);
    }
  };
  const double step = (to - from) / steps;
  if (from == stretch)
    point.response = checked_response(model, material, point.F_elastic, point.state);
  else
    lead_to(from, parts(model, from - stretch, step));
  std::string csv = path_header();
  append_row(csv, model, from, point);
  for (int k = 1; k <= steps; ++k) {
    lead_to(k == steps ? to : from + step * k, model.plastic ? 1 : parts(model, step, step));
    append_row(csv, model, stretch, point);
  }
  return csv;
}

}  // namespace ductile::app
