// The Python module ductile._ductile. Arrays are handed over without copying: NumPy owns the memory that the device's
// values were read into.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "ductile/simulation.hpp"

namespace py = pybind11;
using ductile::Simulation;

namespace {

/// Runs C++ without the interpreter's lock, so that other Python threads may run. Once the interpreter ends, a thread
/// that came back for the lock would be torn down in the middle of C++, which ends the process: it sleeps instead until
/// the process is gone. The thread that ends the interpreter goes on.
class OthersMayRun {
 public:
  OthersMayRun() {
    ++running_;
    state_ = PyEval_SaveThread();
    sleep_if_ended();
  }
  OthersMayRun(const OthersMayRun&) = delete;
  OthersMayRun& operator=(const OthersMayRun&) = delete;
  ~OthersMayRun() {
    sleep_if_ended();
    PyEval_RestoreThread(state_);
    leave();
  }

  /// At the end of the interpreter: waits for the steps that threads are in.
  static void end() {
    ending_ = std::this_thread::get_id();
    const py::gil_scoped_release for_those_on_their_way_back;
    for (int count = running_; count != 0; count = running_) running_.wait(count);
  }
  /// Threads don't come along into a process that forks off.
  static void forked() { running_ = 0; }

 private:
  static void leave() {
    --running_;
    running_.notify_all();
  }
  static void sleep_if_ended() {
    const std::thread::id ending = ending_;
    if (ending == std::thread::id() || ending == std::this_thread::get_id()) return;
    leave();
    for (;;) pause();
  }

  static inline std::atomic<int> running_ = 0;
  static inline std::atomic<std::thread::id> ending_;
  PyThreadState* state_;
};

template <class Number>
py::array to_numpy(std::vector<Number>&& values, int components) {
  auto owner = std::make_unique<std::vector<Number>>(std::move(values));
  Number* data = owner->data();
  const auto rows = static_cast<py::ssize_t>(owner->size()) / components;
  const py::capsule base(owner.get(), [](void* memory) { delete static_cast<std::vector<Number>*>(memory); });
  owner.release();
  if (components == 1) return py::array_t<Number>({rows}, data, base);
  if (components == 9) return py::array_t<Number>({rows, py::ssize_t(3), py::ssize_t(3)}, data, base);
  return py::array_t<Number>({rows, static_cast<py::ssize_t>(components)}, data, base);
}

py::array field(Simulation& simulation, const std::string& name) {
  auto found = [&] {
    const OthersMayRun others_may_run;
    return simulation.field(name);
  }();
  return std::visit([&](auto& values) { return to_numpy(std::move(values), found.components); }, found.values);
}

/// A view of the simulation's own array; it keeps the simulation alive and can't be written.
py::array bodies(const py::object& self) {
  const auto& values = self.cast<const Simulation&>().bodies();
  py::array_t<std::int32_t> view(static_cast<py::ssize_t>(values.size()), values.data(), self);
  view.attr("flags").attr("writeable") = false;
  return view;
}

/// Step by step, so that Ctrl-C works.
Simulation::State advance(Simulation& simulation, long long steps) {
  Simulation::State state;
  do {
    {
      const OthersMayRun others_may_run;
      state = simulation.advance(std::min(steps, 1LL));
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  } while (--steps > 0);
  return state;
}

Simulation::Options options_of(const std::vector<std::string>& overrides, const std::string& device, int threads) {
  return {overrides, device, threads};
}

/// Python would otherwise make objects with nothing behind them.
[[noreturn]] py::object refuse_new(const py::args&, const py::kwargs&) {
  throw py::type_error("make a simulation with ductile.load or ductile.build; it makes its own states");
}

void add_state(py::module_& module) {
  using State = Simulation::State;
  py::class_<State>(module, "State", "The state after a step, as in a row of history.csv; SI units.")
      .def_static("__new__", &refuse_new)
      .def_readonly("step", &State::step)
      .def_readonly("time", &State::time)
      .def_readonly("kinetic_energy", &State::kinetic_energy)
      .def_readonly("elastic_energy", &State::elastic_energy)
      .def_readonly("gravity_energy", &State::gravity_energy)
      .def_readonly("momentum", &State::momentum)
      .def_readonly("angular_momentum", &State::angular_momentum)
      .def_readonly("max_speed", &State::max_speed)
      .def_readonly("min_volume_ratio", &State::min_volume_ratio)
      .def_readonly("residual", &State::residual)
      .def_readonly("iterations", &State::iterations);
}

void add_simulation(py::module_& module) {
  using py::arg;
  // Calls wait for one another: never with the interpreter's lock, which the other one may need to end.
  const py::call_guard<OthersMayRun> alone;
  py::class_<Simulation>(module, "Simulation", "A scene, stepped by the caller, with its particles at hand.")
      .def_static("__new__", &refuse_new)
      .def_static(
          "load",
          [](const std::filesystem::path& file, const std::vector<std::string>& overrides, const std::string& device,
             int threads) { return Simulation::load(file, options_of(overrides, device, threads)); },
          arg("file"), arg("overrides") = std::vector<std::string>{}, arg("device") = "", arg("threads") = 0,
          "A scene file; overrides as --set of the program takes them.")
      .def_static(
          "parse",
          [](const std::string& text, const std::vector<std::string>& overrides, const std::string& device, int threads,
             const std::filesystem::path& folder) {
            return Simulation::parse(text, options_of(overrides, device, threads), folder);
          },
          arg("text"), arg("overrides") = std::vector<std::string>{}, arg("device") = "", arg("threads") = 0,
          arg("folder") = ".", "The text of a scene; paths in it are relative to the folder.")
      .def_property_readonly("title", &Simulation::title)
      .def_property_readonly("particles", &Simulation::particles)
      .def_property_readonly("bodies", &bodies, "Number of each particle's body; a read-only view.")
      .def_property_readonly("body_names", &Simulation::body_names)
      .def_property_readonly("fixture_names", &Simulation::fixture_names)
      .def_property_readonly("step", py::cpp_function(&Simulation::step, alone))
      .def_property_readonly("time", py::cpp_function(&Simulation::time, alone))
      .def_property_readonly("time_step", &Simulation::time_step)
      .def_property_readonly("end_time", &Simulation::end_time)
      .def("advance", &advance, arg("steps") = 1, "Simulates so many steps and returns the State after them.")
      .def("state", &Simulation::state, alone)
      .def("field", &field, arg("name"),
           "position, id, body, or a field as output.fields of a scene names it: an array of (particles), "
           "(particles, 3) or (particles, 3, 3) in the order of the ids, float32 or float64 as the scene's precision; "
           "int32 for body and piece, int64 for id.")
      .def("probes",
           [](Simulation& simulation) {
             const auto probes = [&] {
               const OthersMayRun others_may_run;
               return simulation.probes();
             }();
             py::dict values;
             for (const auto& [name, value] : probes) values[name.c_str()] = value;
             return values;
           })
      .def(
          "move_fixture",
          [](Simulation& simulation, const std::string& name, const Simulation::Vector& velocity,
             const Simulation::Vector& angular_velocity, const std::optional<Simulation::Vector>& about) {
            simulation.move_fixture(name, {velocity, angular_velocity, about});
          },
          arg("name"), arg("velocity") = Simulation::Vector{}, arg("angular_velocity") = Simulation::Vector{},
          arg("about") = std::nullopt, alone,
          "From now on the fixture moves with velocity + angular_velocity x (x - about); without `about` it turns "
          "about "
          "the same point as before.")
      .def("release_fixture", &Simulation::release_fixture, arg("name"), alone);
}

}  // namespace

PYBIND11_MODULE(_ductile, module) {
  module.doc() = "Particle simulator for elastic and inelastic solids.";
  module.attr("__version__") = ductile::version();
  module.def("devices", &ductile::devices, "Names of the devices, in the order of their numbers.");
  const auto base = py::register_exception<ductile::SimulationError>(module, "SimulationError", PyExc_RuntimeError);
  py::register_exception<ductile::DivergenceError>(module, "DivergenceError", base);
  py::register_exception<ductile::InputError>(module, "InputError", PyExc_ValueError);
  py::register_exception<ductile::DeviceError>(module, "DeviceError", PyExc_RuntimeError);
  add_state(module);
  add_simulation(module);
  py::module_::import("atexit").attr("register")(py::cpp_function(&OthersMayRun::end));
  py::module_::import("os").attr("register_at_fork")(py::arg("after_in_child") =
                                                         py::cpp_function(&OthersMayRun::forked));
}
