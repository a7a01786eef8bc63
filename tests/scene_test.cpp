#include "scene/scene.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "common/sha256.hpp"
#include "scene/keys.hpp"
#include "scene/words.hpp"

namespace ductile::scene {
namespace {

namespace fs = std::filesystem;

fs::path data(const std::string& name) { return fs::path(DUCTILE_TEST_DATA) / "scenes" / name; }

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  EXPECT_TRUE(stream) << file;
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// A folder of its own for each test, with scene.toml in it.
class SceneReader : public testing::Test {
 protected:
  SceneReader() {
    std::string pattern = (fs::temp_directory_path() / "ductile-scene-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~SceneReader() override { fs::remove_all(folder_); }
  SceneReader(const SceneReader&) = delete;
  SceneReader& operator=(const SceneReader&) = delete;

  fs::path write(const std::string& text, const std::string& name = "scene.toml") {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  /// The report on a scene, the temporary folder's name left out; empty for a good scene.
  std::string report(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return report_on(write(text), overrides);
  }
  std::string report_on(const fs::path& file, const std::vector<std::string>& overrides = {}) {
    try {
      (void)read_scene(file, overrides);
      return "";
    } catch (const InputError& error) {
      std::string what = error.what();
      const std::string prefix = folder_.string() + "/";
      for (auto at = what.find(prefix); at != std::string::npos; at = what.find(prefix)) what.erase(at, prefix.size());
      return what;
    }
  }
  Scene read(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return read_scene(write(text), overrides);
  }

  fs::path folder_;
  const std::string minimal_ = contents(data("minimal.toml"));
  const std::string full_ = contents(data("full.toml"));
};

// Examples that NIST publishes with FIPS 180-4.
TEST(Sha256, MatchesTheStandardsExamples) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmno"
                   "pqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheBytesArrive) {
  const std::string text(200, 'x');
  for (const std::size_t piece : {1U, 7U, 55U, 56U, 63U, 64U, 65U, 199U}) {
    Sha256 hash;
    for (std::size_t k = 0; k < text.size(); k += piece) hash.update(std::string_view(text).substr(k, piece));
    EXPECT_EQ(hash.hex(), sha256(text)) << piece;
  }
}

Eigen::Vector3d vec(double x, double y, double z) { return {x, y, z}; }

TEST_F(SceneReader, ReadsTheSolverAndTheWorld) {
  const Scene scene = read_scene(data("full.toml"), {});
  EXPECT_EQ(scene.file, data("full.toml"));
  EXPECT_EQ(scene.title, "Every key");
  EXPECT_EQ(scene.sha256, sha256(full_));
  EXPECT_EQ(scene.solver.method, Method::total_lagrangian);
  EXPECT_EQ(scene.solver.time_step, 2e-3);
  EXPECT_EQ(scene.solver.end_time, 3);
  EXPECT_EQ(scene.solver.iterations, 15);
  EXPECT_EQ(scene.solver.scheme, Scheme::jacobi);
  EXPECT_EQ(scene.solver.relaxation, 0.25);
  EXPECT_EQ(scene.solver.gradient, Gradient::corrected);
  EXPECT_EQ(scene.solver.constraint, Constraint::energy);
  EXPECT_EQ(scene.solver.smoothing.kernel, SmoothingKernel::cubic);
  EXPECT_EQ(scene.solver.smoothing.support, 2.5);
  EXPECT_EQ(scene.solver.hourglass, 0.5);
  EXPECT_EQ(scene.solver.precision, Precision::double_precision);
  EXPECT_EQ(scene.solver.damping, 0.125);
  EXPECT_EQ(scene.gravity, vec(1, -2, 3));
  EXPECT_TRUE(scene.contact.enabled);
  EXPECT_EQ(scene.contact.friction, 0.25);
  EXPECT_TRUE(scene.contact.self);
  EXPECT_EQ(scene.output.interval, 0.5);
  EXPECT_EQ(scene.output.fields, (std::vector{Field::volume_ratio, Field::velocity}));
  EXPECT_EQ(scene.output.checkpoint_interval, 2.0);
}

TEST_F(SceneReader, ReadsMaterials) {
  const Scene scene = read_scene(data("full.toml"), {});
  ASSERT_EQ(scene.materials.size(), 2U);
  const Material& muscle = scene.materials[0];
  EXPECT_EQ(muscle.name, "muscle");
  EXPECT_EQ(muscle.density, 1060);
  EXPECT_EQ(muscle.elastic.model, ElasticModel::hencky);
  EXPECT_EQ(muscle.elastic.youngs_modulus, 1e4);
  EXPECT_EQ(muscle.elastic.poisson_ratio, 0.45);
  EXPECT_EQ(muscle.elastic.inversion_below, 0.25);
  ASSERT_EQ(muscle.fibers.size(), 2U);
  EXPECT_EQ(muscle.fibers[0].field, Fiber::Field::constant);
  // [0, 3, 4] has length 5; the quotients carry one rounding each.
  EXPECT_LT((muscle.fibers[0].direction - vec(0, 0.6, 0.8)).norm(), 1e-15);
  EXPECT_EQ(muscle.fibers[0].stiffness, 5e4);
  EXPECT_EQ(muscle.fibers[1].field, Fiber::Field::circumferential);
  EXPECT_EQ(muscle.fibers[1].stiffness, 6e4);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(muscle.plastic));

  const Material& putty = scene.materials[1];
  EXPECT_EQ(putty.name, "putty");
  EXPECT_EQ(putty.density, 1500);
  EXPECT_EQ(putty.elastic.model, ElasticModel::stvk);
  EXPECT_EQ(putty.elastic.poisson_ratio, -0.25);
  EXPECT_EQ(putty.elastic.inversion_below, 0);
  EXPECT_EQ(putty.elastic.inversion, Inversion::hard_switch);
  EXPECT_EQ(muscle.elastic.inversion, Inversion::extended);
  ASSERT_TRUE(std::holds_alternative<Creep>(putty.plastic));
  const auto& creep = std::get<Creep>(putty.plastic);
  EXPECT_EQ(creep.yield_strain, 0.01);
  EXPECT_EQ(creep.rate, 5);
  EXPECT_EQ(creep.max_strain, 0.5);
  EXPECT_TRUE(creep.deviatoric);
}

TEST_F(SceneReader, ReadsBodies) {
  const Scene scene = read_scene(data("full.toml"), {});
  ASSERT_EQ(scene.bodies.size(), 7U);
  const Body& beam = scene.bodies[0];
  EXPECT_EQ(beam.name, "beam");
  EXPECT_EQ(beam.material, 1U);
  EXPECT_EQ(beam.spacing, 0.05);
  EXPECT_EQ(std::get<geometry::Box>(beam.shape.kind).size, vec(1.0, 0.2, 0.3));
  EXPECT_EQ(beam.shape.position, vec(0.5, 0.25, 0.125));
  // A quarter turn about z takes x to y; cos(pi/2) is 6e-17 in doubles.
  EXPECT_LT((beam.shape.rotation * vec(1, 0, 0) - vec(0, 1, 0)).norm(), 1e-15);
  EXPECT_EQ(beam.velocity, vec(1, 2, 3));
  EXPECT_EQ(beam.angular_velocity, vec(4, 5, 6));
  EXPECT_EQ(beam.jitter, 0.25);
  EXPECT_EQ(beam.relax, 2);
  EXPECT_EQ(beam.initial.stretch, vec(1, -1, 0));
  EXPECT_EQ(beam.initial.scramble, 0.125);

  const Body& ball = scene.bodies[1];
  EXPECT_EQ(ball.material, 0U);
  EXPECT_EQ(std::get<geometry::Sphere>(ball.shape.kind).radius, 0.5);
  EXPECT_EQ(ball.shape.position, vec(5, 0, 0));
  EXPECT_LT((ball.shape.rotation * vec(0, 1, 0) - vec(0, -1, 0)).norm(), 1e-15);

  const auto& pillar = std::get<geometry::Cylinder>(scene.bodies[2].shape.kind);
  EXPECT_EQ(pillar.radius, 0.25);
  EXPECT_EQ(pillar.height, 2);
  const auto& pill = std::get<geometry::Capsule>(scene.bodies[3].shape.kind);
  EXPECT_EQ(pill.radius, 0.125);
  EXPECT_EQ(pill.height, 1.5);
  const auto& ring = std::get<geometry::Torus>(scene.bodies[4].shape.kind);
  EXPECT_EQ(ring.radius, 1);
  EXPECT_EQ(ring.tube, 0.375);
  EXPECT_EQ(scene.bodies[5].name, "rock-1");
  EXPECT_EQ(scene.bodies[6].name, "rock-2");
  EXPECT_EQ(scene.bodies[6].shape.position, vec(0, 4, 0));
  EXPECT_EQ(scene.bodies[5].shape.rotation, Eigen::Matrix3d::Identity());
  EXPECT_LT((scene.bodies[6].shape.rotation * vec(1, 0, 0) - vec(0, 1, 0)).norm(), 1e-15);
  const auto& rock = std::get<geometry::Mesh>(scene.bodies[5].shape.kind);
  ASSERT_TRUE(rock.triangles);
  EXPECT_EQ(rock.triangles->triangles().size(), 4U);
  // A unit corner tetrahedron of volume 1/6, twice as large; a few roundings.
  EXPECT_NEAR(rock.triangles->volume(), 8.0 / 6, 1e-14);
}

TEST_F(SceneReader, ReadsFixturesCollidersAndProbes) {
  const Scene scene = read_scene(data("full.toml"), {});
  ASSERT_EQ(scene.fixtures.size(), 2U);
  const Fixture& wall = scene.fixtures[0];
  EXPECT_EQ(wall.name, "wall");
  EXPECT_EQ(wall.body, 0U);
  EXPECT_EQ(std::get<geometry::Plane>(wall.region.kind).normal, vec(-1, 0, 0));
  EXPECT_EQ(std::get<geometry::Plane>(wall.region.kind).point, vec(0.125, 0, 0));
  EXPECT_EQ(wall.motion.velocity, vec(0.5, 0, 0));
  EXPECT_EQ(wall.motion.angular_velocity, vec(0, 0.5, 0));
  EXPECT_EQ(wall.motion.about, vec(0, 0, 0.5));
  EXPECT_EQ(wall.release_at, 1.5);
  EXPECT_EQ(scene.fixtures[1].body, 1U);
  EXPECT_EQ(scene.fixtures[1].motion.velocity, vec(0, 0, 0));
  EXPECT_FALSE(scene.fixtures[1].release_at.has_value());

  ASSERT_EQ(scene.colliders.size(), 2U);
  EXPECT_EQ(scene.colliders[0].name, "collider1");
  EXPECT_EQ(std::get<geometry::Plane>(scene.colliders[0].shape.kind).normal, vec(0, 0, 1));
  EXPECT_EQ(scene.colliders[0].friction, 0);
  EXPECT_FALSE(scene.colliders[0].inside);
  const Collider& drum = scene.colliders[1];
  EXPECT_EQ(drum.name, "drum");
  EXPECT_EQ(std::get<geometry::Cylinder>(drum.shape.kind).height, 4);
  EXPECT_EQ(drum.shape.position, vec(0, 0, 2));
  EXPECT_LT((drum.shape.rotation * vec(0, 0, 1) - vec(0, 0, -1)).norm(), 1e-15);
  EXPECT_EQ(drum.motion.angular_velocity, vec(0, 0, 1));
  EXPECT_EQ(drum.friction, 0.375);
  EXPECT_TRUE(drum.inside);

  ASSERT_EQ(scene.cuts.size(), 2U);
  const Cut& knife = scene.cuts[0];
  EXPECT_EQ(knife.name, "knife");
  ASSERT_EQ(knife.patch.vertices.size(), 4U);
  // A quarter turn about y takes the corner (-x, -y, 0) to (0, -y, x); a few roundings of numbers near one.
  EXPECT_LT((knife.patch.vertices[0] - vec(0.5, -0.375, 1.25)).norm(), 1e-15);
  EXPECT_EQ(knife.patch.triangles.size(), 2U);
  EXPECT_EQ(knife.patch.rim.size(), 4U);
  EXPECT_EQ(knife.motion.velocity, vec(0, 0, -2));
  EXPECT_EQ(knife.motion.angular_velocity, vec(0, 0, 0.5));
  EXPECT_EQ(knife.from, 0.25);
  EXPECT_EQ(knife.until, 0.5);
  EXPECT_EQ(scene.cuts[1].name, "cut2");
  EXPECT_EQ(scene.cuts[1].patch.vertices.size(), 4U);
  EXPECT_TRUE(scene.cuts[1].patch.rim.empty());
  EXPECT_EQ(scene.cuts[1].from, 0);
  EXPECT_FALSE(scene.cuts[1].until.has_value());

  ASSERT_EQ(scene.probes.size(), 3U);
  EXPECT_EQ(scene.probes[0].name, "tip");
  EXPECT_EQ(scene.probes[0].quantity, Probe::Quantity::mean_position);
  EXPECT_EQ(scene.probes[0].body, 0U);
  ASSERT_TRUE(scene.probes[0].region.has_value());
  EXPECT_EQ(scene.probes[0].region->position, vec(1, 0, 0));
  EXPECT_EQ(scene.probes[1].body, 1U);
  EXPECT_FALSE(scene.probes[1].region.has_value());
  EXPECT_EQ(scene.probes[2].quantity, Probe::Quantity::reaction);
  EXPECT_EQ(scene.probes[2].fixture, 1U);
  EXPECT_EQ(scene.probes[2].body, 1U);
}

// The defaults of the key table and those of the structs, which other code constructs directly, are the same.
TEST_F(SceneReader, DefaultsAreThoseOfTheStructs) {
  const Scene scene = read_scene(data("minimal.toml"), {});
  const Scene plain;
  EXPECT_EQ(scene.title, "minimal");
  EXPECT_EQ(scene.solver.iterations, plain.solver.iterations);
  EXPECT_EQ(scene.solver.scheme, plain.solver.scheme);
  EXPECT_EQ(scene.solver.gradient, plain.solver.gradient);
  EXPECT_EQ(scene.solver.constraint, plain.solver.constraint);
  EXPECT_EQ(scene.solver.smoothing.kernel, plain.solver.smoothing.kernel);
  EXPECT_EQ(scene.solver.smoothing.support, plain.solver.smoothing.support);
  EXPECT_EQ(scene.solver.hourglass, plain.solver.hourglass);
  EXPECT_EQ(scene.solver.precision, plain.solver.precision);
  EXPECT_EQ(scene.solver.damping, plain.solver.damping);
  EXPECT_EQ(read(minimal_, {"solver.scheme=jacobi"}).solver.relaxation, plain.solver.relaxation);
  EXPECT_EQ(scene.gravity, plain.gravity);
  EXPECT_EQ(scene.materials[0].elastic.model, Elastic{}.model);
  EXPECT_EQ(scene.materials[0].elastic.inversion_below, Elastic{}.inversion_below);
  // Two roundings, of the root and of its inverse.
  EXPECT_NEAR(scene.materials[0].elastic.inversion_below, 1 / std::sqrt(3.0), 2e-16);
  EXPECT_EQ(scene.bodies[0].velocity, Body{}.velocity);
  EXPECT_EQ(scene.bodies[0].angular_velocity, Body{}.angular_velocity);
  EXPECT_EQ(scene.bodies[0].jitter, Body{}.jitter);
  EXPECT_EQ(scene.bodies[0].relax, Body{}.relax);
  EXPECT_EQ(read(minimal_, {"bodies[0].jitter=0.1"}).bodies[0].relax, 4);
  EXPECT_EQ(scene.bodies[0].shape.position, geometry::Shape{}.position);
  EXPECT_EQ(scene.bodies[0].shape.rotation, geometry::Shape{}.rotation);
  EXPECT_EQ(scene.bodies[0].initial.stretch, scene::Initial{}.stretch);
  EXPECT_EQ(scene.bodies[0].initial.scramble, scene::Initial{}.scramble);
  EXPECT_EQ(scene.materials[0].elastic.inversion, Elastic{}.inversion);
  EXPECT_TRUE(scene.fixtures.empty() && scene.colliders.empty() && scene.probes.empty() && scene.cuts.empty());
  EXPECT_FALSE(scene.contact.enabled);
  EXPECT_EQ(scene.output.interval, plain.output.interval);
  EXPECT_EQ(scene.output.fields, plain.output.fields);
  EXPECT_EQ(scene.output.checkpoint_interval, plain.output.checkpoint_interval);
  EXPECT_EQ(read(minimal_, {"output.interval=0.5"}).output.checkpoint_interval, 5);
  EXPECT_TRUE(read(minimal_ + "[contact]\n").contact.enabled);
}

TEST_F(SceneReader, IntegersStandForNumbersHoweverLarge) {
  EXPECT_EQ(read(minimal_, {"bodies[0].velocity=[-9223372036854775808, 9007199254740993, 1]"}).bodies[0].velocity,
            vec(-0x1p63, 0x1p53, 1));
}

// minimal.toml with one line changed; the reports are compared whole.
struct OneError {
  std::string line, instead, report;
};

class SceneErrors : public SceneReader, public testing::WithParamInterface<OneError> {};

TEST_P(SceneErrors, AreReportedWithTheirPlace) {
  EXPECT_EQ(report(replaced(minimal_, GetParam().line, GetParam().instead)), GetParam().report);
}

const std::string time_step = "time_step = 1e-3";
const std::string density = "density = 1000.0";
const std::string elastic = "elastic = { youngs_modulus = 1e5, poisson_ratio = 0.3 }";
const std::string shape = "shape    = { type = \"box\", size = [1, 1, 1] }";
const std::string material = "material = \"rubber\"";

INSTANTIATE_TEST_SUITE_P(
    Values, SceneErrors,
    testing::Values(
        OneError{time_step, "time_step = \"fast\"",
                 "scene.toml:3:13: solver.time_step = \"fast\" is not a number\n    expected a number > 0, in s"},
        OneError{time_step, "time_step = 0",
                 "scene.toml:3:13: solver.time_step = 0 is out of range\n    expected a number > 0, in s"},
        OneError{time_step, "time_step = nan",
                 "scene.toml:3:13: solver.time_step = nan is not finite\n    expected a number > 0, in s"},
        OneError{time_step, "time_step = -inf",
                 "scene.toml:3:13: solver.time_step = -inf is not finite\n    expected a number > 0, in s"},
        OneError{time_step, "  time_step = 1.5",
                 "scene.toml:4:13: solver.end_time = 1 is before the end of the first step\n    expected at least "
                 "solver.time_step = 1.5"},
        OneError{time_step, "time_step = 1e-15",
                 "scene.toml:4:13: solver.end_time = 1 takes too many steps\n    expected at most 1000000000000 times "
                 "solver.time_step"},
        OneError{time_step, time_step + "\niterations = 20.0",
                 "scene.toml:4:14: solver.iterations = 20 is not an integer\n    expected an integer >= 1 and <= "
                 "1000000"},
        OneError{time_step, time_step + "\niterations = 9223372036854775807",
                 "scene.toml:4:14: solver.iterations = 9223372036854775807 is out of range\n    expected an integer >= "
                 "1 and <= 1000000"},
        OneError{time_step, time_step + "\nprecision = 64",
                 "scene.toml:4:13: solver.precision = 64 is not a word in quotes\n    expected single or double"},
        OneError{time_step, time_step + "\nsmoothing = \"poly6\"",
                 "scene.toml:4:13: solver.smoothing = \"poly6\" is not a table\n    expected a table: [smoothing] or "
                 "smoothing = { ... }"},
        OneError{elastic, "elastic = { youngs_modulus = 1e5, poisson_ratio = 0.5 }",
                 "scene.toml:8:51: materials.rubber.elastic.poisson_ratio = 0.5 is out of range\n    expected a number "
                 "> -1 and < 0.5"},
        OneError{shape, "shape = { type = \"box\", size = [1, 0, 1] }",
                 "scene.toml:14:36: bodies[0].shape.size[1] = 0 is out of range\n    expected a list of 3 numbers > 0, "
                 "in m"},
        OneError{shape, "shape = { type = \"box\", size = [1, 1, 1, 1] }",
                 "scene.toml:14:32: bodies[0].shape.size = [1, 1, 1, 1] has 4 elements\n    expected a list of 3 "
                 "numbers > 0, in m"},
        OneError{shape, "shape = { type = \"torus\", radius = 1, tube = 1 }",
                 "scene.toml:14:46: bodies[0].shape.tube = 1 closes the hole of the torus\n    expected less than "
                 "radius = 1"},
        OneError{shape, "shape = { type = \"mesh\", file = \"\\u0007\" }",
                 "scene.toml:14:33: bodies[0].shape.file = \"\\u0007\" has control characters\n    expected text on "
                 "one line"},
        OneError{material, material + "\nrotation = { axis = [0, 0, 0], degrees = 1 }",
                 "scene.toml:13:21: bodies[0].rotation.axis = [0, 0, 0] has no direction\n    expected a list of 3 "
                 "numbers, not all 0"},
        OneError{"[[bodies]]", "[output]\nfields = [\"velocity\", \"velocity\"]\n[[bodies]]",
                 "scene.toml:11:23: output.fields[1] = \"velocity\" is there twice\n    expected a list of velocity, "
                 "deformation_gradient, cauchy_stress, von_mises_stress, volume_ratio or piece, each at most once"},
        OneError{"[[bodies]]", "[contact]\nself = 1\n[[bodies]]",
                 "scene.toml:11:8: contact.self = 1 is not true or false\n    expected true or false"}));

INSTANTIATE_TEST_SUITE_P(
    WordsAndKeys, SceneErrors,
    testing::Values(
        OneError{elastic, "elastic = { model = \"neohooke\", youngs_modulus = 1e5, poisson_ratio = 0.3 }",
                 "scene.toml:8:21: materials.rubber.elastic.model = \"neohooke\" is not a model\n    expected linear, "
                 "corotated, fixed-corotated, stvk, neo-hookean or hencky; did you mean \"neo-hookean\"?"},
        OneError{time_step, time_step + "\nitertaions = 4",
                 "scene.toml:4:1: solver.itertaions is not a known key\n    expected method, time_step, end_time, "
                 "iterations, scheme, gradient, constraint, smoothing, hourglass, precision or damping; did you mean "
                 "\"iterations\"?"},
        OneError{density, "dens = 1000.0\n" + density,
                 "scene.toml:7:1: materials.rubber.dens is not a known key\n    expected density, elastic, fibers or "
                 "plastic; did you mean \"density\"?"},
        OneError{"[solver]", "gravity = 3\n[solver]",
                 "scene.toml:1:1: gravity is not a known key\n    expected title, solver, world, materials, bodies, "
                 "fixtures, colliders, cuts, contact, probes or output"},
        OneError{time_step, time_step + "\nrelaxation = 0.5",
                 "scene.toml:4:1: solver.relaxation is not used by scheme gauss-seidel\n    expected it with scheme "
                 "jacobi only"},
        OneError{time_step, time_step + "\nxsph = 0.5",
                 "scene.toml:4:1: solver.xsph is not used by method total-lagrangian\n    expected it with method xpbi "
                 "only"},
        OneError{shape, "shape = { type = \"box\", size = [1, 1, 1], radius = 2 }",
                 "scene.toml:14:43: bodies[0].shape.radius is not used by type box\n    expected it with type sphere, "
                 "cylinder, capsule or torus only"},
        OneError{"method    = \"total-lagrangian\"", "",
                 "scene.toml:1:1: solver.method is missing\n    expected total-lagrangian or xpbi"},
        OneError{density, "",
                 "scene.toml:6:1: materials.rubber.density is missing\n    expected a number > 0, in "
                 "kg/m^3"},
        OneError{shape, "",
                 "scene.toml:10:1: bodies[0].shape is missing\n    expected a table: [shape] or shape = { "
                 "... }"},
        OneError{
            "[[bodies]]", "[bodies]",
            "scene.toml:10:1: bodies = {...} is not a list of tables\n    expected a list of tables: [[bodies]] or "
            "bodies = [{ ... }]"},
        OneError{density, density + "\nplastic = { model = \"von-mises\", yield_stress = 1e3 }",
                 "scene.toml:8:21: materials.rubber.plastic.model = \"von-mises\" is not used by method "
                 "total-lagrangian\n    expected creep"},
        OneError{elastic,
                 "elastic = { model = \"hencky\", youngs_modulus = 1e5, poisson_ratio = 0.3 }\nplastic = { model = "
                 "\"creep\", yield_strain = 0.1, rate = 1, max_strain = 1 }",
                 "scene.toml:9:21: materials.rubber.plastic.model = \"creep\" does not act on elastic.model "
                 "hencky\n    expected elastic.model stvk with it"},
        OneError{density, density + "\nfibers = [{ field = \"radial\", direction = [1, 0, 0], stiffness = 1 }]",
                 "scene.toml:8:31: materials.rubber.fibers[0].direction is not used by field radial\n    expected it "
                 "with field constant only"},
        OneError{density, density + "\nfibers = [{ stiffness = 1 }]",
                 "scene.toml:8:11: materials.rubber.fibers[0].direction is missing\n    expected a list of 3 numbers, "
                 "not all 0"},
        OneError{
            shape, "shape = { type = \"plane\" }",
            "scene.toml:14:18: bodies[0].shape.type = \"plane\" cannot be filled with particles\n    expected box, "
            "sphere, cylinder, capsule, torus or mesh"},
        OneError{shape, "shape = { type = \"box\", size = [1, 1, 1], position = [1, 1, 1] }\nposition = [0, 0, 0]",
                 "scene.toml:15:12: bodies[0].position = [0, 0, 0] is given here and inside the shape\n    expected it "
                 "in one of the two places"},
        OneError{"[[bodies]]", "[[colliders]]\nshape = { type = \"plane\" }\nposition = [0, 0, 1]\n[[bodies]]",
                 "scene.toml:12:12: colliders[0].position = [0, 0, 1] is not used by a plane\n    expected normal and "
                 "point inside the shape"}));

INSTANTIATE_TEST_SUITE_P(
    Names, SceneErrors,
    testing::Values(
        OneError{
            material, "material = \"ruber\"",
            "scene.toml:12:12: bodies[0].material = \"ruber\" names no material\n    expected rubber; did you mean "
            "\"rubber\"?"},
        OneError{"name     = \"cube\"", "name = \"a,b\"",
                 "scene.toml:11:8: bodies[0].name = \"a,b\" is not a name\n    expected a name without commas, quotes, "
                 "control characters and blanks at its ends"},
        OneError{
            "[materials.rubber]", "[materials.rubber]\n" + density + "\n" + elastic + "\n[materials.\"\"]",
            "scene.toml:9:12: \"\" in materials is not a name\n    expected a name without commas, quotes, control "
            "characters and blanks at its ends"},
        OneError{shape,
                 shape + "\n[[bodies]]\nname = \"cube\"\nmaterial = \"rubber\"\nspacing = 1\nshape = { type = "
                         "\"sphere\", radius = 1 }",
                 "scene.toml:16:8: bodies[1].name = \"cube\" is already the name of bodies[0]\n    expected another "
                 "name"},
        OneError{"[[bodies]]",
                 "[[colliders]]\nname = \"collider2\"\nshape = { type = \"plane\" }\n[[colliders]]\nshape = { type = "
                 "\"plane\" }\n[[bodies]]",
                 "scene.toml:13:1: colliders[1].name is \"collider2\" by default, already the name of colliders[0]\n"
                 "    expected another name there, or a name here"},
        OneError{"[[bodies]]", "[[fixtures]]\nname = \"a\"\nbody = \"cub\"\nregion = { type = \"plane\" }\n[[bodies]]",
                 "scene.toml:12:8: fixtures[0].body = \"cub\" names no body\n    expected cube; did you mean "
                 "\"cube\"?"},
        OneError{"[[bodies]]", "[[probes]]\nname = \"a\"\nquantity = \"reaction\"\nfixture = \"wall\"\n[[bodies]]",
                 "scene.toml:13:11: probes[0].fixture = \"wall\" names no fixture\n    expected a fixture, but the "
                 "scene has none"},
        OneError{"[[bodies]]", "[[probes]]\nname = \"a\"\nbody = \"cube\"\nfixture = \"wall\"\n[[bodies]]",
                 "scene.toml:13:1: probes[0].fixture is not used by quantity mean-position\n    expected it with "
                 "quantity reaction only"}));

TEST_F(SceneReader, ABillionCopiesAreRefusedBeforeTheyAreMade) {
  const auto text = report(minimal_, {"bodies[0].copies={ count = [1000, 1000, 1000], spacing = [1, 1, 1] }"});
  EXPECT_NE(text.find("bodies[0].copies"), std::string::npos) << text;
  EXPECT_NE(text.find("at most 100000 bodies"), std::string::npos) << text;
}

TEST_F(SceneReader, AReactionProbeNamesNoOtherBodyThanItsFixture) {
  EXPECT_EQ(report_on(data("full.toml"), {"probes.load.body=beam"}),
            "--set probes.load.body=beam: probes[2].body = \"beam\" is not the body of fixture \"grip\"\n    expected "
            "\"ball\", or no body");
}

TEST_F(SceneReader, ReportsSyntaxErrorsInTheSameForm) {
  EXPECT_EQ(report(replaced(minimal_, time_step, "time_step = ")),
            "scene.toml:3:13: this is not TOML: while parsing key-value pair: expected value, saw '\\n'\n    expected "
            "lines of key = value, [table] and [[list of tables]]");
  EXPECT_EQ(report(replaced(minimal_, time_step, time_step + "\n" + time_step)).find("scene.toml:4:13: this is not"),
            0U);
}

TEST_F(SceneReader, ReportsEveryErrorAtOnceByLine) {
  std::string text = replaced(minimal_, "method    = \"total-lagrangian\"", "method = \"total\"\nmultiplier = 3");
  text = replaced(text, density, "density = -1");
  text = replaced(text, "spacing  = 0.1", "spacing = true\nvelocity = [1, \"a\", nan]");
  text = replaced(text, shape, "shape = { type = \"cube\", size = 3 }");
  EXPECT_EQ(
      report("titel = 1\n" + text, {"solver.damping=-1"}),
      "scene.toml:1:1: titel is not a known key\n    expected title, solver, world, materials, bodies, fixtures, "
      "colliders, cuts, contact, probes or output; did you mean \"title\"?\n"
      // Which keys belong to an unknown method or shape cannot be said: only the word itself is wrong.
      "scene.toml:3:10: solver.method = \"total\" is not a method\n    expected total-lagrangian or xpbi; did you mean "
      "\"total-lagrangian\"?\n"
      "scene.toml:9:11: materials.rubber.density = -1 is out of range\n    expected a number > 0, in kg/m^3\n"
      "scene.toml:15:11: bodies[0].spacing = true is not a number\n    expected a number > 0, in m\n"
      "scene.toml:16:16: bodies[0].velocity[1] = \"a\" is not a number\n    expected a list of 3 numbers, in m/s\n"
      "scene.toml:16:21: bodies[0].velocity[2] = nan is not finite\n    expected a list of 3 numbers, in m/s\n"
      "scene.toml:17:18: bodies[0].shape.type = \"cube\" is not a type\n    expected box, sphere, cylinder, "
      "capsule, torus or mesh\n"
      "--set solver.damping=-1: solver.damping = -1 is out of range\n    expected a number >= 0, in 1/s");
}

TEST_F(SceneReader, AnUnknownMethodSaysNothingAboutPlasticModels) {
  const std::string text = replaced(minimal_, density, density + "\nplastic = { model = \"snow\" }");
  EXPECT_EQ(report(text, {"solver.method=xpbj"}),
            "--set solver.method=xpbj: solver.method = \"xpbj\" is not a method\n    expected total-lagrangian or "
            "xpbi; did you mean \"xpbi\"?");
}

TEST_F(SceneReader, AnUnknownModelStillHasSuggestionsForItsKeys) {
  const std::string text =
      replaced(minimal_, density, density + "\nplastic = { model = \"von-mise\", yeild_stress = 1, hardening = 0 }");
  const std::string found = report(text, {"solver.method=xpbi"});
  EXPECT_EQ(found.find("scene.toml:8:21: materials.rubber.plastic.model = \"von-mise\" is not a model"), 0U) << found;
  EXPECT_NE(found.find("scene.toml:8:33: materials.rubber.plastic.yeild_stress is not a known key\n    expected model, "
                       "yield_stress, hardening, friction_angle, cohesion,"),
            std::string::npos)
      << found;
  EXPECT_NE(found.find("did you mean \"yield_stress\"?"), std::string::npos) << found;
  EXPECT_EQ(found.find("plastic.hardening"), std::string::npos) << found;
}

TEST_F(SceneReader, NamesInAListThatWasRefusedAreNotCalledUnknown) {
  const std::string rest =
      "\n[[fixtures]]\nname = \"wall\"\nbody = \"cube\"\nregion = { type = \"plane\" }\n[[probes]]\nname = "
      "\"tip\"\nbody "
      "= \"cube\"\n[[probes]]\nname = \"load\"\nquantity = \"reaction\"\nfixture = \"wall\"\n";
  const std::string good = minimal_ + rest;
  ASSERT_EQ(report(good), "");
  const auto lines = [&](const std::string& from, const std::string& to) {
    const std::string text = report(replaced(good, from, to));
    EXPECT_EQ(text.find("names no"), std::string::npos) << text;
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines("[[bodies]]", "[bodies]"), 1);
  EXPECT_EQ(lines("[[fixtures]]", "[fixtures]"), 1);
  EXPECT_EQ(lines("[materials.rubber]", "[[materials.rubber]]"), 1);
  EXPECT_EQ(lines("spacing  = 0.1", "spacing  = 0.1\ncopies = { count = [1.5, 1, 1], spacing = [1, 1, 1] }"), 1);
}

TEST_F(SceneReader, XpbiHasItsOwnDefaults) {
  const Scene memory = read(minimal_, {"solver.method=xpbi"});
  EXPECT_EQ(memory.solver.least_distance, 0.5);
  // Where nothing flows neighbours stay, as in the total-Lagrangian method.
  EXPECT_EQ(memory.solver.smoothing.support, 1.6);
  EXPECT_EQ(memory.solver.hourglass, 0.1);
  const Scene flowing =
      read(minimal_, {"solver.method=xpbi", "materials.rubber.plastic={ model = \"von-mises\", yield_stress = 1e3 }"});
  EXPECT_EQ(flowing.solver.smoothing.support, 2.0);
  EXPECT_EQ(flowing.solver.hourglass, 0.3);
  EXPECT_EQ(memory.materials[0].elastic.model, ElasticModel::hencky);
  const Scene current = read(minimal_, {"solver.method=xpbi", "solver.reference=current"});
  EXPECT_EQ(current.solver.smoothing.support, 2.0);
  EXPECT_EQ(current.solver.hourglass, 0.0);
  EXPECT_EQ(current.solver.least_distance, 0.75);
  EXPECT_EQ(read(minimal_).solver.hourglass, 0.1);
  EXPECT_EQ(read(minimal_).materials[0].elastic.model, ElasticModel::neo_hookean);
}

TEST_F(SceneReader, APlasticModelBringsItsElasticLaw) {
  const std::vector<std::pair<std::string, ElasticModel>> laws{
      {"model = \"von-mises\", yield_stress = 1e3", ElasticModel::hencky},
      {"model = \"drucker-prager\"", ElasticModel::hencky},
      {"model = \"cam-clay\", slope = 1, hardening = 1", ElasticModel::hencky},
      {"model = \"cam-clay\", slope = 1, hardening = 1, form = \"neo-hookean\"", ElasticModel::neo_hookean},
      {"model = \"herschel-bulkley\", yield_stress = 1, viscosity = 1", ElasticModel::hencky},
      {"model = \"snow\"", ElasticModel::fixed_corotated},
      {"model = \"creep\", yield_strain = 0.1, rate = 1, max_strain = 1", ElasticModel::stvk}};
  for (const auto& [plastic, law] : laws) {
    const std::vector<std::string> overrides{
        law == ElasticModel::stvk ? "solver.method=total-lagrangian" : "solver.method=xpbi",
        "materials.rubber.plastic={" + plastic + "}"};
    ASSERT_EQ(report(minimal_, overrides), "") << plastic;
    const Scene scene = read(minimal_, overrides);
    EXPECT_EQ(scene.materials[0].elastic.model, law) << plastic;
    auto given = overrides;
    given.push_back("materials.rubber.elastic.model=" + std::string(word(law)));
    EXPECT_EQ(read(minimal_, given).digest, scene.digest) << plastic;
  }
  EXPECT_EQ(report(minimal_,
                   {"solver.method=xpbi", "solver.multiplier=tensor", "materials.rubber.plastic={model = \"snow\"}"}),
            "scene.toml:8:11: materials.rubber.elastic.model is fixed-corotated with this plastic.model, which does "
            "not go with solver.multiplier tensor\n    expected hencky, or solver.multiplier scalar");
  // A form that is misspelt asks for no law.
  EXPECT_EQ(report(minimal_, {"solver.method=xpbi", "materials.rubber.elastic.model=neo-hookean",
                              "materials.rubber.plastic={model = \"cam-clay\", slope = 1, hardening = 1, form = "
                              "\"neohookean\"}"})
                .find("does not act"),
            std::string::npos);
}

TEST_F(SceneReader, RefusesWhatXpbiDoesNotUse) {
  EXPECT_EQ(report(minimal_, {"solver.method=xpbi", "solver.gradient=raw"}),
            "--set solver.gradient=raw: solver.gradient is not used by method xpbi\n    expected it with "
            "method total-lagrangian only");
  EXPECT_EQ(report(minimal_, {"solver.method=xpbi", "solver.reference=current", "solver.hourglass=0.1"}),
            "--set solver.hourglass=0.1: solver.hourglass = 0.1 is not used by reference current\n    expected it with "
            "reference memory only");
  EXPECT_EQ(
      report(minimal_, {"solver.method=xpbi", "solver.volumes=total"}),
      "--set solver.volumes=total: solver.volumes = \"total\" is not used by reference memory\n    expected it with "
      "reference current only");
  EXPECT_EQ(report(minimal_, {"solver.method=xpbi", "solver.multiplier=tensor", "solver.release=true"}),
            "--set solver.release=true: solver.release = true is not used by multiplier tensor\n    expected it with "
            "multiplier scalar only");
  EXPECT_EQ(
      report(minimal_, {"solver.method=xpbi", "materials.rubber.elastic.model=stvk"}),
      "--set materials.rubber.elastic.model=stvk: materials.rubber.elastic.model = \"stvk\" is not used by method "
      "xpbi\n    expected hencky or neo-hookean");
  EXPECT_EQ(
      report(minimal_, {"solver.method=xpbi", "materials.rubber.plastic={model = \"snow\"}",
                        "materials.rubber.elastic.model=hencky"}),
      "--set materials.rubber.plastic={model = \"snow\"}: materials.rubber.plastic.model = \"snow\" does not act on "
      "elastic.model hencky\n    expected elastic.model fixed-corotated with it");
  EXPECT_EQ(report(minimal_, {"solver.method=xpbi",
                              "materials.rubber.plastic={model = \"creep\", yield_strain = 0, rate = "
                              "1, max_strain = 1}"})
                    .find("is not used by method xpbi") != std::string::npos,
            true);
}

TEST_F(SceneReader, RefusesAnExtensionWhereNothingIsExtended) {
  const auto refused = [&](std::vector<std::string> overrides, const std::string& key, const std::string& reason) {
    overrides.push_back("materials.rubber.elastic." + key);
    const std::string text = report(minimal_, overrides);
    EXPECT_EQ(text.find("--set materials.rubber.elastic." + key + ": materials.rubber.elastic."), 0U) << text;
    EXPECT_NE(text.find(reason), std::string::npos) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  };
  for (const std::string key :
       {"inversion_below=0.3", "inversion_below=0", "inversion=hard-switch", "inversion=extended"}) {
    for (const std::string model : {"linear", "corotated", "fixed-corotated"})
      refused({"materials.rubber.elastic.model=" + model}, key,
              "is not used by model " + model + "\n    expected it with model stvk, neo-hookean or hencky only");
    for (const std::string rule :
         {"model = \"von-mises\", yield_stress = 1", "model = \"snow\"", "model = \"drucker-prager\"",
          "model = \"herschel-bulkley\", yield_stress = 1, viscosity = 1",
          "model = \"cam-clay\", slope = 1, hardening = 1, form = \"neo-hookean\""})
      refused({"solver.method=xpbi", "materials.rubber.plastic={" + rule + "}"}, key, "is not used by return mappings");
    for (const std::string model : {"stvk", "neo-hookean", "hencky"})
      EXPECT_EQ(report(minimal_, {"materials.rubber.elastic.model=" + model, "materials.rubber.elastic." + key}), "");
    EXPECT_EQ(
        report(minimal_, {"materials.rubber.plastic={model = \"creep\", yield_strain = 0, rate = 1, max_strain = 1}",
                          "materials.rubber.elastic." + key}),
        "");
  }
  refused({"solver.method=xpbi"}, "inversion=hard-switch",
          "is not used by method xpbi\n    expected it with method total-lagrangian only");
  EXPECT_EQ(report(minimal_, {"solver.method=xpbi", "materials.rubber.elastic.inversion_below=0.3"}), "");
  for (const std::string multiplier : {"pair", "tensor"})
    for (const std::string key : {"inversion_below=0.3", "inversion_below=0"})
      refused({"solver.method=xpbi", "solver.multiplier=" + multiplier}, key,
              "is not used by solver.multiplier " + multiplier +
                  ", which solves the law itself at every stretch\n    expected it with solver.multiplier scalar only");
  // One mistake, one report: not that an unknown model, or one of another method, has no extension either.
  EXPECT_EQ(report(minimal_, {"materials.rubber.elastic.model=liner", "materials.rubber.elastic.inversion_below=0.3"})
                .find("inversion_below"),
            std::string::npos);
}

TEST_F(SceneReader, StrainMultipliersHaveThePlainLaw) {
  const auto critical = [&](const std::string& multiplier) {
    const auto scene = read(
        minimal_, {"solver.method=xpbi", "solver.multiplier=" + multiplier, "materials.rubber.elastic.model=hencky"});
    return scene.materials[0].elastic.inversion_below;
  };
  EXPECT_EQ(critical("scalar"), Elastic{}.inversion_below);
  EXPECT_EQ(critical("pair"), 0);
  EXPECT_EQ(critical("tensor"), 0);
}

TEST_F(SceneReader, RefusesAPairOfMultipliersWithoutARootOfLambda) {
  const std::vector<std::string> auxetic{"solver.method=xpbi", "materials.rubber.elastic.model=hencky",
                                         "materials.rubber.elastic.poisson_ratio=-0.2"};
  const auto with = [&](const std::string& multiplier) {
    auto overrides = auxetic;
    overrides.push_back("solver.multiplier=" + multiplier);
    return report(minimal_, overrides);
  };
  EXPECT_EQ(with("pair"),
            "--set materials.rubber.elastic.poisson_ratio=-0.2: materials.rubber.elastic.poisson_ratio = -0.2 does not "
            "go with solver.multiplier pair, whose volume part is sqrt(lambda) tr(eps)\n    expected 0 or more, or "
            "solver.multiplier scalar or tensor");
  EXPECT_EQ(with("scalar"), "");
  EXPECT_EQ(with("tensor"), "");
}

TEST_F(SceneReader, BoundsWhatNoMaterialHas) {
  for (const auto& [rule, key, most] : {std::tuple{"model = \"drucker-prager\"", "cohesion", 1},
                                        {"model = \"cam-clay\", slope = 1, hardening = 1", "cohesion", 10},
                                        {"model = \"snow\"", "hardening", 50}}) {
    const auto with = [&](double value) {
      const std::string plastic = "materials.rubber.plastic={" + std::string(rule) + "}";
      return report(minimal_, {"solver.method=xpbi", plastic,
                               "materials.rubber.plastic." + std::string(key) + "=" + std::to_string(value)});
    };
    EXPECT_EQ(with(most), "");
    EXPECT_NE(with(1e9).find("<= " + std::to_string(most)), std::string::npos) << with(1e9);
  }
}

TEST_F(SceneReader, ReportsAMeshThatCannotBeUsedWhereTheSceneNamesIt) {
  const std::string text = replaced(minimal_, shape, "shape = { type = \"mesh\", file = \"none.obj\" }");
  const std::string report_text = report(text);
  EXPECT_EQ(report_text.find("scene.toml:14:33: bodies[0].shape.file = \"none.obj\" cannot be used\n    expected a "
                             "closed surface; none.obj"),
            0U)
      << report_text;
}

TEST_F(SceneReader, AFileWithoutANameIsCalledEmpty) {
  const std::string mesh = "bodies[0].shape={type=\"mesh\", file=\"\"}";
  const auto text = report_on(write(minimal_), {mesh});
  EXPECT_NE(text.find("bodies[0].shape.file = \"\" is empty"), std::string::npos) << text;
}

TEST_F(SceneReader, AnInitialStateWithoutAnyMaterialIsOneProblem) {
  const auto text = report_on(fs::path(DUCTILE_SOURCE_DIR "/fuzz/corpus/scene/initial_without_material.toml"));
  EXPECT_NE(text.find("materials is missing"), std::string::npos) << text;
  EXPECT_EQ(text.find("initial needs"), std::string::npos) << text;
}

TEST_F(SceneReader, NumbersThatTheDeviceSquaresHaveTheirBounds) {
  const std::string collider =
      "colliders=[{shape={type=\"sphere\", radius=1.0, position=[9, 9, 9]}, motion={velocity=[0, 0, 1]}}]";
  const std::string fixture =
      "fixtures=[{name=\"f\", body=\"" + read(minimal_).bodies[0].name + "\", region={type=\"sphere\", radius=9.0}}]";
  const std::string modulus = "materials." + read(minimal_).materials[0].name + ".elastic.youngs_modulus=V";
  const std::vector<std::string> keys{"solver.hourglass=V",
                                      modulus,
                                      "bodies[0].initial.stretch=[V, 1, 1]",
                                      "bodies[0].initial.scramble=V",
                                      "colliders[0].motion.velocity=[V, 0, 0]",
                                      "colliders[0].shape.radius=V",
                                      "colliders[0].shape.position=[0, V, 0]",
                                      "fixtures[0].motion.velocity=[0, 0, V]",
                                      "fixtures[0].motion.about=[0, 0, V]"};
  for (const auto& key : keys) {
    const auto with = [&](const std::string& value, const std::string& precision) {
      std::string change = key;
      change.replace(change.find('V'), 1, value);
      return report_on(write(minimal_), {collider, fixture, change, "solver.precision=" + precision});
    };
    EXPECT_NE(with("1e300", "single").find("too large for any precision"), std::string::npos) << key;
    EXPECT_NE(with("1e300", "double").find("too large for any precision"), std::string::npos) << key;
    EXPECT_NE(with("1e38", "single").find("or solver.precision = \"double\""), std::string::npos) << key;
    EXPECT_EQ(with("1e38", "double"), "") << key;
    EXPECT_EQ(with("1e10", "single"), "") << key;
  }
}

TEST_F(SceneReader, CompliancesHaveARangeToo) {
  const auto with = [&](const std::string& precision) {
    return report_on(write(minimal_),
                     {"bodies[0].spacing=1e-9", "bodies[0].shape={type=\"box\", size=[2e-9, 2e-9, 2e-9]}",
                      "solver.time_step=1e-12", "solver.precision=" + precision});
  };
  EXPECT_NE(with("single").find("is too small for solver.time_step in single precision"), std::string::npos);
  EXPECT_NE(with("single").find("or solver.precision = \"double\""), std::string::npos);
  EXPECT_EQ(with("double"), "");
}

TEST_F(SceneReader, RefusesWhatIsNotASceneFile) {
  EXPECT_EQ(report_on(folder_ / "none.toml"),
            "none.toml: cannot be read: No such file or directory; check the path of the scene file");
  fs::create_directory(folder_ / "sub");
  EXPECT_EQ(report_on(folder_ / "sub"), "sub: is a directory; give the scene file (TOML) in it");
  EXPECT_EQ(report(""), "scene.toml: is empty; expected a scene (TOML)");
  EXPECT_EQ(report("# nothing\n").find("scene.toml:1:1: solver is missing\n"), 0U);
  EXPECT_EQ(report(std::string("\x7f"
                               "ELF\0\1\2\xff",
                               8))
                .find("scene.toml:1:7: this is not TOML: "),
            0U);
  EXPECT_EQ(report(std::string((16 << 20) + 1, '\n')),
            "scene.toml: has 16777217 bytes, a scene at most 16777216; is it a scene file (TOML)?");
}

// Nesting without end must neither crash nor be read.
TEST_F(SceneReader, SurvivesEndlessNesting) {
  std::string keys, arrays = "a = ", tables = "a = ";
  for (int k = 0; k < 300000; ++k) {
    keys += "a.";
    arrays += '[';
    tables += "{a=";
  }
  EXPECT_EQ(report(keys + "a = 1").find("scene.toml:1:202: this is not TOML: encountered too many dots"), 0U);
  EXPECT_NE(report(arrays).find("this is not TOML"), std::string::npos);
  EXPECT_NE(report(tables).find("this is not TOML"), std::string::npos);
  EXPECT_NE(report(minimal_, {"solver={" + keys + "a=1}"}).find("solver = \"{a.a."), std::string::npos);
}

TEST_F(SceneReader, AppliesOverrides) {
  const Scene scene =
      read_scene(data("full.toml"),
                 {"title=\"x = y\"", "solver.iterations=40", "solver.scheme = gauss-seidel", "solver.relaxation=1",
                  "bodies.0.spacing=0.5", "bodies.ball.shape.radius=7", "bodies.ring.jitter=0.125",
                  "materials.putty.elastic.youngs_modulus=3e5", "materials.muscle.fibers[1].stiffness=1",
                  "world.gravity[2]=9", "colliders.collider1.friction=0.5", "colliders.drum.inside=false",
                  "output.fields=[]", "fixtures.grip.motion.velocity=[1, 2, 3]", "solver.scheme=jacobi"});
  EXPECT_EQ(scene.title, "x = y");
  EXPECT_EQ(scene.solver.iterations, 40);
  EXPECT_EQ(scene.solver.scheme, Scheme::jacobi) << "the last one counts";
  EXPECT_EQ(scene.solver.relaxation, 1);
  EXPECT_EQ(scene.bodies[0].spacing, 0.5);
  EXPECT_EQ(std::get<geometry::Sphere>(scene.bodies[1].shape.kind).radius, 7);
  EXPECT_EQ(scene.bodies[4].jitter, 0.125);
  EXPECT_EQ(scene.materials[1].elastic.youngs_modulus, 3e5);
  EXPECT_EQ(scene.materials[0].fibers[1].stiffness, 1);
  EXPECT_EQ(scene.gravity, vec(1, -2, 9));
  EXPECT_EQ(scene.colliders[0].friction, 0.5);
  EXPECT_FALSE(scene.colliders[1].inside);
  EXPECT_TRUE(scene.output.fields.empty());
  EXPECT_EQ(scene.fixtures[1].motion.velocity, vec(1, 2, 3));
  EXPECT_EQ(scene.sha256, sha256(full_)) << "of the file, not of the overrides";

  EXPECT_EQ(read(minimal_, {"title=two words"}).title, "two words");
  EXPECT_EQ(read(replaced(minimal_, "cube", "a.b"), {"bodies.\"a.b\".spacing=2"}).bodies[0].spacing, 2);
}

TEST_F(SceneReader, ReportsOverridesAsTheirOwnPlace) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"solver.iterations=abc",
       "solver.iterations = \"abc\" is not an integer\n    expected an integer >= 1 and <= "
       "1000000"},
      {"solvr.iterations=3",
       "solvr is not a known key\n    expected title, solver, world, materials, bodies, fixtures, "
       "colliders, cuts, contact, probes or output; did you mean \"solver\"?"},
      {"solver.smoothing.suport=3",
       "solver.smoothing.suport is not a known key\n    expected kernel or support; did "
       "you mean \"support\"?"},
      {"bodies.cub.spacing=3", "bodies has no element named \"cub\"\n    expected cube; did you mean \"cube\"?"},
      {"bodies.1.spacing=3", "bodies has no element 1\n    expected an index from 0 to 0"},
      {"bodies[1].spacing=3", "bodies has no element 1\n    expected an index from 0 to 0"},
      {"bodies[0].shape={type=\"sphere\"}", "bodies[0].shape.radius is missing\n    expected a number > 0, in m"},
      {"solver.time_step.x=3",
       "solver.time_step is not a table or list\n    expected a path through tables and lists "
       "only"},
      {"solver[0]=3", "solver is not a list\n    expected a path through tables and lists only"},
      {"solver.iterations", "there is no \"=\"\n    expected key=value, as in solver.iterations=40"},
      {"solver..x=3", "\"solver..x\" is not a path\n    expected keys with dots between, as in bodies[0].spacing"},
      {"bodies[x]=3", "\"bodies[x]\" is not a path\n    expected keys with dots between, as in bodies[0].spacing"},
      {"bodies[-1]=3", "\"bodies[-1]\" is not a path\n    expected keys with dots between, as in bodies[0].spacing"},
      {"=3", "\"\" is not a path\n    expected keys with dots between, as in bodies[0].spacing"},
      {"title=\xff", "the value is not text\n    expected TOML or a word in UTF-8"},
      {"title=a\nb = 3", "title = \"a\\nb = 3\" has control characters\n    expected text on one line"},
  };
  for (const auto& [override_text, expected] : cases)
    EXPECT_EQ(report(minimal_, {override_text}), "--set " + override_text + ": " + expected);
}

TEST_F(SceneReader, TheDigestIsThatOfTheEffectiveValues) {
  const Scene scene = read(minimal_);
  EXPECT_EQ(scene.digest.size(), 64U);
  const std::string rewritten =
      replaced(replaced(minimal_, time_step, "# shorter\ntime_step=0.001"), "1000.0", "1_000");
  EXPECT_EQ(read(rewritten).digest, scene.digest) << "comments, blanks and the spelling of numbers do not count";
  EXPECT_NE(read(rewritten).sha256, scene.sha256);
  EXPECT_EQ(read(minimal_, {"solver.end_time=7"}).digest, scene.digest) << "a longer run continues a shorter one";
  EXPECT_EQ(read(minimal_, {"solver.iterations=20"}).digest, scene.digest) << "a default given explicitly";
  EXPECT_EQ(read_scene(write(minimal_, "other.toml"), {}).digest, scene.digest);
  EXPECT_NE(read(minimal_, {"contact={}"}).digest, scene.digest);
}

TEST_F(SceneReader, TheDigestChangesWithTheBytesOfAMesh) {
  const std::string text = replaced(minimal_, shape, "shape = { type = \"mesh\", file = \"rock.obj\" }");
  const std::string mesh = contents(data("tetrahedron.obj"));
  write(mesh, "rock.obj");
  const std::string before = read(text).digest;
  write(replaced(mesh, "v 1 0 0", "v 1.5 0 0"), "rock.obj");
  EXPECT_NE(read(text).digest, before);
}

/// A key in one of the two scenes that together have every key.
struct FullPlace {
  std::string file, path;
};

/// Where a key stands, by its table and the word that it belongs to.
FullPlace place_in_full(const std::string& table, const Condition& condition) {
  static const std::map<std::string, std::string> places{{"", ""},
                                                         {"solver", "solver."},
                                                         {"solver.smoothing", "solver.smoothing."},
                                                         {"world", "world."},
                                                         {"materials.NAME", "materials.putty."},
                                                         {"materials.NAME.elastic", "materials.putty.elastic."},
                                                         {"materials.NAME.fibers", "materials.muscle.fibers[0]."},
                                                         {"materials.NAME.plastic", "materials.putty.plastic."},
                                                         {"bodies", "bodies[0]."},
                                                         {"bodies.initial", "bodies[0].initial."},
                                                         {"bodies.copies", "bodies[5].copies."},
                                                         {"fixtures", "fixtures[0]."},
                                                         {"colliders", "colliders[1]."},
                                                         {"cuts", "cuts[0]."},
                                                         {"cuts.shape", "cuts[0].shape."},
                                                         {"cuts.shape mesh", "cuts[1].shape."},
                                                         {"contact", "contact."},
                                                         {"probes", "probes[0]."},
                                                         {"probes reaction", "probes[2]."},
                                                         {"output", "output."},
                                                         {"shape", "bodies[1].shape."},
                                                         {"shape box", "bodies[0].shape."},
                                                         {"shape cylinder", "bodies[2].shape."},
                                                         {"shape capsule", "bodies[3].shape."},
                                                         {"shape torus", "bodies[4].shape."},
                                                         {"shape mesh", "bodies[5].shape."},
                                                         {"shape plane", "fixtures[0].region."},
                                                         {"rotation", "bodies[0].rotation."},
                                                         {"motion", "fixtures[0].motion."}};
  static const std::map<std::string, std::string> xpbi_places{
      {"solver xpbi", "solver."},
      {"materials.NAME.plastic von-mises", "materials.dough.plastic."},
      {"materials.NAME.plastic drucker-prager", "materials.sand.plastic."},
      {"materials.NAME.plastic cam-clay", "materials.clay.plastic."},
      {"materials.NAME.plastic herschel-bulkley", "materials.cream.plastic."},
      {"materials.NAME.plastic snow", "materials.snow.plastic."}};
  const std::string with_word = table + " " + std::string(condition.word);
  if (const auto xpbi = xpbi_places.find(with_word); xpbi != xpbi_places.end()) return {"full_xpbi.toml", xpbi->second};
  const auto special = places.find(with_word);
  return {"full.toml", special != places.end() && !condition.unless ? special->second : places.at(table)};
}

/// Calls `check(key, file, path in the file)` for every key that can be used.
void for_every_key(const std::function<void(const Key&, const std::string&, const std::string&)>& check) {
  const auto available = [](const Table& keys, const Condition& condition) {
    for (const Key& key : keys.keys)
      if (key.name == condition.selector && !condition.unless)
        return std::find(key.words.begin(), key.words.end(), condition.word) != key.words.end();
    return true;
  };
  for (const Table& keys : tables())
    for (const Key& key : keys.keys)
      if (available(keys, key.condition)) {
        const FullPlace place = place_in_full(std::string(keys.name), key.condition);
        check(key, place.file, place.path + std::string(key.name));
      }
}

TEST_F(SceneReader, EveryKeyRefusesAnotherType) {
  int keys = 0;
  for_every_key([&](const Key&, const std::string& file, const std::string& path) {
    ++keys;
    const std::string override_text = path + "=1979-05-27";
    const std::string text = report_on(data(file), {override_text});
    EXPECT_NE(text.find("--set " + override_text + ": " + path + " = 1979-05-27 is not "), std::string::npos)
        << path << "\n"
        << text;
  });
  EXPECT_EQ(static_cast<std::size_t>(keys), documented_keys().size());
}

TEST_F(SceneReader, EveryLimitHolds) {
  const auto refused = [&](const Key& key, const std::string& file, const std::string& path, double value) {
    std::ostringstream text;
    text.precision(17);
    if (key.type == Type::vector)
      text << path << "=[1, " << value << ", 1]";
    else
      text << path << "=" << value;
    const std::string found = report_on(data(file), {text.str()});
    return found.find(text.str() + ": " + path) != std::string::npos && found.find("out of range") != std::string::npos;
  };
  int limits = 0;
  for_every_key([&](const Key& key, const std::string& file, const std::string& path) {
    const double step = key.type == Type::integer ? 1 : 1e-9;
    for (const bool low : {true, false}) {
      const double limit = low ? key.range.low : key.range.high;
      if (!std::isfinite(limit)) continue;
      ++limits;
      const bool included = low ? key.range.with_low : key.range.with_high;
      EXPECT_EQ(refused(key, file, path, limit), !included) << path << " at " << limit;
      EXPECT_TRUE(refused(key, file, path, low ? limit - step : limit + step)) << path << " beyond " << limit;
      EXPECT_FALSE(refused(key, file, path, low ? limit + step : limit - step)) << path << " within " << limit;
    }
  });
  EXPECT_GT(limits, 30);
}

TEST_F(SceneReader, EveryNumberRefusesNanAndInfinity) {
  for_every_key([&](const Key& key, const std::string& file, const std::string& path) {
    if (key.type != Type::number) return;
    for (const std::string value : {"nan", "inf", "-inf"})
      EXPECT_NE(report_on(data(file), {path + "=" + value}).find("is not finite"), std::string::npos) << path;
  });
}

TEST_F(SceneReader, EveryValueChangesTheDigest) {
  std::map<std::string, std::string> before;
  for (const std::string file : {"full.toml", "full_xpbi.toml"}) before[file] = read_scene(data(file), {}).digest;
  const std::map<std::string, std::string> special{{"title", "other"},
                                                   {"solver.end_time", ""},  // the one value left out
                                                   {"solver.iterations", "16"},
                                                   {"solver.scheme", ""},  // `relaxation` would not be used any more
                                                   {"solver.gradient", "raw"},
                                                   {"solver.multiplier", ""},  // goes with hencky laws only
                                                   {"solver.reference", ""},   // `volumes` would not be used
                                                   {"solver.volumes", "density"},
                                                   {"solver.plasticity", "none"},
                                                   {"solver.separation", ""},  // `least_distance` would not be used
                                                   {"materials.sand.plastic.volume_correction", "true"},
                                                   {"materials.clay.plastic.log_volume", "-0.25"},
                                                   {"solver.constraint", "sqrt-energy"},
                                                   {"solver.smoothing.kernel", "poly6"},
                                                   {"solver.smoothing.support", "3"},
                                                   {"solver.precision", "single"},
                                                   {"bodies[0].material", "muscle"},
                                                   {"bodies[0].relax", "3"},
                                                   {"bodies[0].name", ""},  // fixtures and probes refer to it
                                                   {"bodies[4].shape.tube", "0.75"},
                                                   {"bodies[5].shape.file", "./tetrahedron.obj"},
                                                   {"fixtures[0].name", "x"},
                                                   {"fixtures[0].body", "ball"},
                                                   {"colliders[1].name", "x"},
                                                   {"cuts[0].name", "x"},
                                                   {"cuts[1].shape.file", "./tetrahedron.obj"},
                                                   {"materials.putty.elastic.inversion", "extended"},
                                                   {"probes[0].name", "x"},
                                                   {"probes[0].body", "ball"},
                                                   {"probes[2].body", ""},     // that of the fixture, or nothing
                                                   {"probes[2].fixture", ""},  // `body` would not be its own
                                                   {"output.fields", "[]"}};
  const auto other_value = [&](const Key& key, const std::string& path) -> std::string {
    if (const auto found = special.find(path); found != special.end()) return found->second;
    if (key.type == Type::number) return "0.4375";
    if (key.type == Type::boolean) return "false";
    if (key.type == Type::vector || key.type == Type::direction) return "[7, 8, 9]";
    return "";
  };
  int values = 0;
  for_every_key([&](const Key& key, const std::string& file, const std::string& path) {
    const std::string value = other_value(key, path);
    if (value.empty()) return;
    ++values;
    EXPECT_NE(read_scene(data(file), {path + "=" + value}).digest, before.at(file)) << path;
  });
  EXPECT_GT(values, 50);
}

struct DocumentedPage {
  std::map<std::string, std::vector<std::string>> rows;  ///< by table, back-quotes left out
  std::string example;
  std::string text;
};

DocumentedPage read_page() {
  DocumentedPage page;
  page.text = contents(fs::path(DUCTILE_TEST_DATA) / ".." / ".." / "docs" / "scene.md");
  std::istringstream lines(page.text);
  std::string table = "none";
  bool in_example = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "```") in_example = false;
    if (in_example) page.example += line + "\n";
    if (line == "```toml") in_example = true;
    std::erase(line, '`');
    if (line.starts_with("## ")) table = line == "## Top level" ? "" : line.substr(3);
    if (line.starts_with("| ") && !line.starts_with("| key |")) page.rows[table].push_back(line);
  }
  return page;
}

std::string row(const DocumentedKey& key) {
  std::string text = "|";
  for (const std::string& cell : {key.key, key.type, key.fallback, key.limits, key.meaning})
    text += (cell.empty() ? "" : " " + cell) + " |";
  std::erase(text, '`');
  return text;
}

TEST(SceneDocumentation, HasTheKeysOfTheReader) {
  std::map<std::string, std::vector<std::string>> expected;
  for (const DocumentedKey& key : documented_keys()) expected[key.table].push_back(row(key));
  const DocumentedPage page = read_page();
  for (const auto& [table, rows] : expected) {
    ASSERT_TRUE(page.rows.contains(table)) << "docs/scene.md has no section ## `" << table << "`";
    EXPECT_EQ(page.rows.at(table), rows) << "docs/scene.md, section " << table;
  }
  for (const auto& [table, rows] : page.rows) EXPECT_TRUE(expected.contains(table)) << "no such table: " << table;
}

TEST(ResultDocumentation, HasEveryField) {
  const std::string page = contents(fs::path(DUCTILE_TEST_DATA) / ".." / ".." / "docs" / "results.md");
  for (const std::string_view field : Words<Field>::all)
    EXPECT_NE(page.find("| `" + std::string(field) + "` |"), std::string::npos) << field;
}

class SceneExample : public SceneReader {};

TEST_F(SceneExample, OfTheDocumentationIsAScene) {
  const DocumentedPage page = read_page();
  const Scene scene = read(page.example);
  EXPECT_EQ(scene.title, "Clamped beam under its own weight");
  EXPECT_EQ(scene.probes[1].quantity, Probe::Quantity::reaction);
}

TEST_F(SceneExample, OfAnErrorIsTheProgramsOwn) {
  const DocumentedPage page = read_page();
  std::string text = replaced(report(replaced(page.example, "neo-hookean", "neohooke")), "scene.toml", "beam.toml");
  for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) text.insert(at + 1, "  ");
  EXPECT_NE(page.text.find("\n  " + text + "\n"), std::string::npos) << text;
}

TEST(SceneWords, AreDifferent) {
  const std::set<std::string_view> words(Words<Gradient>::all.begin(), Words<Gradient>::all.end());
  EXPECT_EQ(words.size(), Words<Gradient>::all.size());
  EXPECT_EQ(word(ElasticModel::hencky), "hencky");
  EXPECT_EQ(word(Field::volume_ratio), "volume_ratio");
  // The order of the enumerations is that of the variants they stand for.
  EXPECT_EQ(geometry::ShapeKind(geometry::Plane{}).index(), static_cast<std::size_t>(ShapeType::plane));
  EXPECT_EQ(geometry::ShapeKind(geometry::Mesh{}).index(), static_cast<std::size_t>(ShapeType::mesh));
  EXPECT_EQ(Plastic(Creep{}).index(), static_cast<std::size_t>(PlasticModel::creep) + 1);
  EXPECT_EQ(Plastic(VonMises{}).index(), static_cast<std::size_t>(PlasticModel::von_mises) + 1);
}

}  // namespace
}  // namespace ductile::scene
