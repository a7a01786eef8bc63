#include "scene/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "scene/words.hpp"

namespace ductile::scene {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Range any{};

constexpr Range above(double low) { return {low, infinity, false, true}; }
constexpr Range at_least(double low) { return {low, infinity, true, true}; }
constexpr Range below(double high) { return {-infinity, high, true, false}; }
constexpr Range between(double low, double high) { return {low, high, false, false}; }  // both excluded
constexpr Range from_to(double low, double high) { return {low, high, true, true}; }    // both included

constexpr Default required{Default::Kind::required, "required"};
constexpr Default value(std::string_view toml) { return {Default::Kind::value, toml}; }
constexpr Default described(std::string_view words) { return {Default::Kind::described, words}; }

using Text = std::string_view;

Key number(Text name, Text unit, Default fallback, Range range, Text meaning) {
  return {name, Type::number, unit, fallback, range, {}, {}, meaning, {}};
}
Key integer(Text name, Default fallback, Range range, Text meaning) {
  return {name, Type::integer, {}, fallback, range, {}, {}, meaning, {}};
}
Key boolean(Text name, Default fallback, Text meaning) {
  return {name, Type::boolean, {}, fallback, any, {}, {}, meaning, {}};
}
Key text(Text name, Default fallback, Text meaning) {
  return {name, Type::text, {}, fallback, any, {}, {}, meaning, {}};
}
Key unique_name(Default fallback, Text meaning) { return {"name", Type::name, {}, fallback, any, {}, {}, meaning, {}}; }
Key reference(Text name, Text table_name, Default fallback, Text meaning) {
  return {name, Type::reference, {}, fallback, any, {}, table_name, meaning, {}};
}
Key vector(Text name, Text unit, Default fallback, Range range, Text meaning) {
  return {name, Type::vector, unit, fallback, range, {}, {}, meaning, {}};
}
Key direction(Text name, Default fallback, Text meaning) {
  return {name, Type::direction, {}, fallback, any, {}, {}, meaning, {}};
}
Key inner(Text name, Type type, Text table_name, Default fallback, Text meaning) {
  return {name, type, {}, fallback, any, {}, table_name, meaning, {}};
}

template <class Enum>
std::vector<Text> all_words() {
  return {Words<Enum>::all.begin(), Words<Enum>::all.end()};
}
template <class Enum>
Key one_word(Text name, Default fallback, Text meaning) {
  return {name, Type::word, {}, fallback, any, all_words<Enum>(), {}, meaning, {}};
}

std::vector<Text> method_words() {
  std::vector<Text> words;
  for (const Method method : available_methods) words.push_back(word(method));
  return words;
}
/// The plastic models that some available method has.
std::vector<Text> plastic_words() {
  std::vector<Text> words;
  for (const Method method : available_methods)
    for (const PlasticModel model : plastic_models(method)) words.push_back(word(model));
  return words;
}
Key word_of(std::vector<Text> words, Text name, Default fallback, Text meaning) {
  return {name, Type::word, {}, fallback, any, std::move(words), {}, meaning, {}};
}

Table top_level() {
  return {"",
          {text("title", described("the file's name without its ending"), "shown in reports"),
           inner("solver", Type::table, "solver", required, "method, steps and their settings"),
           inner("world", Type::table, "world", described("its defaults"), "what surrounds the bodies"),
           inner("materials", Type::named_tables, "materials.NAME", required, "at least one, each under its own name"),
           inner("bodies", Type::tables, "bodies", required, "at least one"),
           inner("fixtures", Type::tables, "fixtures", described("none"), "held or driven parts of bodies"),
           inner("colliders", Type::tables, "colliders", described("none"), "rigid obstacles and containers"),
           inner("cuts", Type::tables, "cuts", described("none"), "surfaces that cut bodies apart (total-lagrangian)"),
           inner("contact", Type::table, "contact", described("no contact between particles"),
                 "switches contact between bodies on, even if empty"),
           inner("probes", Type::tables, "probes", described("none"), "columns of probes.csv"),
           inner("output", Type::table, "output", described("its defaults"), "what is written, and when")}};
}

Table solver() {
  const auto xpbi = [](const Key& key) { return key.only("method", "xpbi"); };
  const auto total_lagrangian = [](const Key& key) { return key.only("method", "total-lagrangian"); };
  return {"solver",
          {word_of(method_words(), "method", required, "the solver"),
           number("time_step", "s", required, above(0), "length of a time step"),
           number("end_time", "s", required, above(0), "end of the simulation, at least one time step"),
           integer("iterations", value("20"), {1, 1e6}, "per time step"),
           one_word<Scheme>("scheme", value("\"gauss-seidel\""),
                            "order of the corrections: one colour after another, or all at once"),
           number("relaxation", "", value("0.5"), {0, 1, false, true}, "factor of the corrections")
               .only("scheme", "jacobi"),
           xpbi(one_word<Multiplier>("multiplier", value("\"scalar\""), "unknowns per particle of the stress solve")),
           xpbi(one_word<Reference>("reference", value("\"memory\""),
                                    "where kernels are evaluated: unloaded pair vectors, or current positions")),
           xpbi(one_word<Plasticity>("plasticity", value("\"implicit\""),
                                     "where yielding is decided: in every iteration, after the step, or never")),
           xpbi(one_word<Volumes>("volumes", value("\"elastic\""),
                                  "of the neighbours, with reference current: from the elastic deformation, from the "
                                  "density of particles, or followed through all deformation")),
           xpbi(boolean("release", value("false"),
                        "take back the impulse of a constraint that vanishes during the iterations; multiplier "
                        "scalar alone has it")),
           xpbi(number("tolerance", "", value("0.0"), at_least(0),
                       "iterations end when the residual is below it; 0: all are made")),
           xpbi(one_word<Separation>("separation", value("\"distance\""),
                                     "what keeps particles that flow apart: a least distance, or the density at rest")),
           xpbi(number("least_distance", "spacings", described("0.5; reference current: 0.75"), {0, 1, true, false},
                       "that particles which flow keep from each other; 0: none")),
           xpbi(boolean("primal_residual", value("false"),
                        "measure how well forces balance inertia (history.csv); costs an iteration")),
           xpbi(number("xsph", "", value("0.01"), {0, 1, true, true},
                       "smoothing of the velocity: the part that goes in the time of a pressure wave through one "
                       "spacing; reference current: in a step")),
           total_lagrangian(one_word<Gradient>("gradient", value("\"least-squares\""),
                                               "how a deformation gradient is taken from the neighbours")),
           total_lagrangian(
               one_word<Constraint>("constraint", value("\"sqrt-energy\""),
                                    "what is brought to zero; `energy` is far too stiff, for comparison only")),
           inner("smoothing", Type::table, "solver.smoothing", described("its defaults"), "smoothing kernel"),
           number("hourglass", "",
                  described("0.1; xpbi: 0.3 where a material is plastic, with reference memory, which alone has it"),
                  at_least(0), "penalty on zero-energy modes, as a factor of Young's modulus"),
           one_word<Precision>("precision", value("\"single\""), "of the device's arithmetic"),
           number("damping", "1/s", value("0.0"), at_least(0), "decay rate of all velocities")}};
}

Table smoothing() {
  constexpr bool has_xpbi = std::ranges::count(available_methods, Method::xpbi) > 0;
  return {"solver.smoothing",
          {one_word<SmoothingKernel>("kernel", value("\"wendland\""), "shape of the kernel"),
           number("support", "spacings",
                  described(has_xpbi ? "1.6; xpbi: 2.0 where a material is plastic, or with reference current" : "1.6"),
                  {1, 10, false, true}, "radius of the kernel")}};
}

Table world() {
  return {"world", {vector("gravity", "m/s^2", value("[0.0, 0.0, -9.81]"), any, "acceleration of free fall")}};
}

Table material() {
  return {"materials.NAME",
          {number("density", "kg/m^3", required, above(0), "at rest"),
           inner("elastic", Type::table, "materials.NAME.elastic", required, "the elastic law"),
           inner("fibers", Type::tables, "materials.NAME.fibers", described("none"), "stiffening directions"),
           inner("plastic", Type::table, "materials.NAME.plastic", described("elastic only"), "how it yields")}};
}

Table elastic() {
  return {"materials.NAME.elastic",
          {one_word<ElasticModel>(
               "model", described("\"neo-hookean\"; xpbi: \"hencky\"; with `plastic` the law that its model acts on"),
               "energy as a function of the deformation"),
           number("youngs_modulus", "Pa", required, above(0), "at small strain"),
           number("poisson_ratio", "", required, between(-1, 0.5), "at small strain"),
           number("inversion_below", "", value("0.57735026918962576"), {0, 1, true, false},
                  "stretch below which the law continues with constant stiffness, so that it resists inversion; "
                  "default 1/sqrt(3); 0 switches this off"),
           one_word<Inversion>("inversion", value("\"extended\""),
                               "below that stretch: `hard-switch` takes the corotated law instead, as printed in the "
                               "literature; stress and energy jump there")}};
}

Table fibers() {
  return {"materials.NAME.fibers",
          {one_word<Fiber::Field>("field", value("\"constant\""),
                                  "the same everywhere, or along, away from or around the body's own z axis"),
           direction("direction", required, "at rest").only("field", "constant"),
           number("stiffness", "Pa", required, above(0), "added along the direction")}};
}

Table plastic() {
  const auto only = [](std::string_view model) { return [model](const Key& key) { return key.only("model", model); }; };
  const auto von_mises = only("von-mises"), sand = only("drucker-prager"), clay = only("cam-clay"),
             paste = only("herschel-bulkley"), snow = only("snow"), creep = only("creep");
  return {
      "materials.NAME.plastic",
      {word_of(plastic_words(), "model", required, "the flow rule"),
       von_mises(number("yield_stress", "Pa", required, above(0),
                        "bound on the norm of the stress deviator; uniaxial yield is sqrt(3/2) of it")),
       von_mises(number("hardening", "", value("0.0"), at_least(0), "growth of the yield strain per plastic strain")),
       sand(number("friction_angle", "degrees", value("30.0"), between(0, 90), "angle of internal friction")),
       sand(number("cohesion", "", value("0.0"), from_to(0, 1), "logarithmic strain at which it comes apart")),
       sand(boolean("volume_correction", value("true"), "give back the volume gained when it came apart")),
       clay(number("slope", "", required, above(0), "of the critical state line (M)")),
       clay(number("cohesion", "", value("0.0"), from_to(0, 10), "tensile part of the yield surface (beta)")),
       clay(number("hardening", "", required, above(0), "growth of the preconsolidation pressure (xi)")),
       clay(number("log_volume", "", value("-0.01"), below(0), "initial logarithm of the plastic volume ratio")),
       clay(one_word<CamClay::Form>("form", value("\"hencky\""), "elastic law that the mapping is written for")),
       paste(number("yield_stress", "Pa", required, at_least(0), "uniaxial")),
       paste(number("viscosity", "Pa s^power", required, above(0), "beyond yield")),
       paste(number("power", "", value("1.0"), above(0), "of the shear rate: below 1 thins, above 1 thickens")),
       snow(number("critical_compression", "", value("0.025"), between(0, 1), "strain at which it crushes")),
       snow(number("critical_stretch", "", value("0.0075"), above(0), "strain at which it tears")),
       snow(number("hardening", "", value("10.0"), from_to(0, 50), "growth of the stiffness with compaction")),
       creep(number("yield_strain", "", required, at_least(0), "elastic Green strain (norm) above which it flows")),
       creep(number("rate", "1/s", required, at_least(0), "part of the elastic strain that becomes plastic")),
       creep(number("max_strain", "", required, above(0), "bound on the norm of the plastic strain")),
       creep(boolean("deviatoric", value("false"), "flow by the deviator alone, so that volume is kept"))}};
}

Table bodies() {
  return {"bodies",
          {unique_name(required, "used by fixtures and probes"),
           reference("material", "materials.NAME", required, "name of a material"),
           number("spacing", "m", required, above(0), "distance of the particles at rest"),
           inner("shape", Type::table, "shape", required, "what is filled with particles; not a plane"),
           vector("position", "m", described("that of the shape"), any, "of the shape's centre"),
           inner("rotation", Type::table, "rotation", described("that of the shape"), "of the shape about its centre"),
           vector("velocity", "m/s", value("[0.0, 0.0, 0.0]"), any, "at the start"),
           vector("angular_velocity", "rad/s", value("[0.0, 0.0, 0.0]"), any, "at the start, about the position"),
           number("jitter", "spacings", value("0.0"), {0, 0.5, true, false},
                  "largest random displacement of a particle per axis"),
           integer("relax", described("0; with jitter 4"), {0, 1000},
                   "steps that even out an irregular sample; 0 keeps the noise, which makes bodies far too soft"),
           inner("initial", Type::table, "bodies.initial", described("at rest"),
                 "a deformed state to start from: bodies that know their rest shape"),
           inner("copies", Type::table, "bodies.copies", described("none"), "a block of equal bodies")}};
}

Table copies() {
  return {"bodies.copies",
          {vector("count", "", required, {1, 1000}, "bodies along x, y and z; whole numbers"),
           vector("spacing", "m", required, any, "from one to the next along x, y and z"),
           inner("rotation", Type::table, "rotation", described("none"),
                 "of each about its centre, relative to the one before")}};
}

Table initial() {
  return {
      "bodies.initial",
      {vector("stretch", "", value("[1.0, 1.0, 1.0]"), any,
              "factors along the shape's own axes, about its position; 0 flattens, negative values turn inside out"),
       number("scramble", "m", value("0.0"), at_least(0),
              "largest random displacement of a particle per axis, after the stretch")}};
}

Table fixtures() {
  return {"fixtures",
          {unique_name(required, "used by probes"), reference("body", "bodies", required, "name of a body"),
           inner("region", Type::table, "shape", required, "the particles that lie in it at rest"),
           inner("motion", Type::table, "motion", described("its defaults"), "how they move; held by default"),
           number("release_at", "s", described("never"), at_least(0), "time at which they are let go")}};
}

Table colliders() {
  return {"colliders",
          {unique_name(described("collider1, collider2, ..."), "used in messages"),
           inner("shape", Type::table, "shape", required, "the obstacle"),
           vector("position", "m", described("that of the shape"), any, "of the shape's centre"),
           inner("rotation", Type::table, "rotation", described("that of the shape"), "of the shape about its centre"),
           inner("motion", Type::table, "motion", described("its defaults"), "how it moves; at rest by default"),
           number("friction", "", value("0.0"), at_least(0), "coefficient"),
           boolean("inside", value("false"), "keep particles inside the shape (a container)")}};
}

Table cuts() {
  return {"cuts",
          {unique_name(described("cut1, cut2, ..."), "used in messages"),
           inner("shape", Type::table, "cuts.shape", required, "the cutting surface"),
           vector("position", "m", value("[0.0, 0.0, 0.0]"), any, "of its centre; for a mesh, of its origin"),
           inner("rotation", Type::table, "rotation", described("none"), "about the position"),
           inner("motion", Type::table, "motion", described("its defaults"), "how it moves; at rest by default"),
           number("from", "s", value("0.0"), at_least(0), "time at which it starts to cut"),
           number("until", "s", described("never"), at_least(0), "time at which it stops to cut")}};
}

Table cut_shape() {
  const auto rectangle = [](const Key& key) { return key.only("type", "rectangle"); };
  const auto mesh = [](const Key& key) { return key.only("type", "mesh"); };
  return {"cuts.shape",
          {one_word<PatchType>("type", required, "its normal is z before the rotation"),
           rectangle(number("width", "m", required, above(0), "along x")),
           rectangle(number("height", "m", required, above(0), "along y")),
           mesh(text("file", required, "open or closed surface (OBJ, STL, PLY or OFF), at most 10000 triangles")),
           mesh(number("scale", "", value("1.0"), above(0), "factor of the file's coordinates"))}};
}

Table contact() {
  return {"contact",
          {number("friction", "", value("0.0"), at_least(0), "coefficient"),
           boolean("self", value("false"), "also between parts of one body")}};
}

Table probes() {
  const auto mean = [](const Key& key) { return key.only("quantity", "mean-position"); };
  const auto reaction = [](const Key& key) { return key.only("quantity", "reaction"); };
  return {
      "probes",
      {unique_name(required, "of the columns"),
       one_word<Probe::Quantity>("quantity", value("\"mean-position\""),
                                 "mean of the particles' positions, or force that a fixture exerts"),
       mean(reference("body", "bodies", required, "name of a body")),
       mean(inner("region", Type::table, "shape", described("the whole body"), "the particles that lie in it at rest")),
       reaction(reference("fixture", "fixtures", required, "name of a fixture")),
       reaction(reference("body", "bodies", described("that of the fixture"), "no other is accepted"))}};
}

Table output() {
  return {
      "output",
      {number("interval", "s", value("0.02"), above(0), "simulated time between frames"),
       {"fields",
        Type::words,
        {},
        value("[\"velocity\", \"deformation_gradient\", \"cauchy_stress\", \"von_mises_stress\", \"volume_ratio\"]"),
        any,
        all_words<Field>(),
        {},
        "point data beside `id` and `body`",
        {}},
       number("checkpoint_interval", "s", described("ten times interval"), above(0),
              "simulated time between checkpoints")}};
}

Table shape() {
  const auto only = [](std::string_view type) { return [type](const Key& key) { return key.only("type", type); }; };
  const auto box = only("box"), sphere = only("sphere"), cylinder = only("cylinder"), capsule = only("capsule"),
             torus = only("torus"), plane = only("plane"), mesh = only("mesh");
  const auto length = [](Text name, Text meaning) { return number(name, "m", required, above(0), meaning); };
  return {
      "shape",
      {one_word<ShapeType>("type", required, "its axis is z before the rotation"),
       box(vector("size", "m", required, above(0), "edges")), sphere(length("radius", "from the centre")),
       cylinder(length("radius", "from the axis")), cylinder(length("height", "along the axis")),
       capsule(length("radius", "from the axis and at the caps")), capsule(length("height", "of the straight part")),
       torus(length("radius", "from the axis to the middle of the tube")),
       torus(length("tube", "radius of the tube, less than `radius`")),
       plane(direction("normal", value("[0.0, 0.0, 1.0]"), "points away from the solid half space")),
       plane(vector("point", "m", value("[0.0, 0.0, 0.0]"), any, "on the plane")),
       mesh(text("file", required, "closed surface (OBJ, STL, PLY or OFF), path relative to the scene file")),
       mesh(number("scale", "", value("1.0"), above(0), "factor of the file's coordinates")),
       vector("position", "m", value("[0.0, 0.0, 0.0]"), any, "of the centre; for a mesh, of its origin")
           .unless("type", "plane"),
       inner("rotation", Type::table, "rotation", described("none"), "about the centre").unless("type", "plane")}};
}

Table rotation() {
  return {"rotation",
          {direction("axis", required, "through the centre"),
           number("degrees", "degrees", required, any, "counter-clockwise seen against the axis")}};
}

Table motion() {
  return {"motion",
          {vector("velocity", "m/s", value("[0.0, 0.0, 0.0]"), any, "constant"),
           vector("angular_velocity", "rad/s", value("[0.0, 0.0, 0.0]"), any, "constant, about `about`"),
           vector("about", "m", value("[0.0, 0.0, 0.0]"), any, "point at the start; moves with `velocity`")}};
}

}  // namespace

const std::vector<Table>& tables() {
  static const std::vector<Table> all{top_level(), solver(),  smoothing(), world(),  material(), elastic(),   fibers(),
                                      plastic(),   bodies(),  initial(),   copies(), fixtures(), colliders(), cuts(),
                                      cut_shape(), contact(), probes(),    output(), shape(),    rotation(),  motion()};
  return all;
}

const Table& table(std::string_view name) {
  const auto found = std::ranges::find(tables(), name, &Table::name);
  if (found == tables().end()) throw std::logic_error(fmt::format("no table of keys is named {}", name));
  return *found;
}

}  // namespace ductile::scene
