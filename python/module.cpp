// The Python module ductile._ductile. Arrays are handed over without copying: NumPy owns the memory that the device's
// values were read into.

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "ductile/simulation.hpp"

namespace py = pybind11;
using ductile::Simulation;

namespace {

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
    const py::gil_scoped_release others_may_run;
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
  if (steps <= 0) return simulation.advance(steps);
  Simulation::State state;
  for (long long k = 0; k < steps; ++k) {
    {
      const py::gil_scoped_release others_may_run;
      state = simulation.advance();
    }
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  return state;
}

Simulation::Options options_of(const std::vector<std::string>& overrides, const std::string& device, int threads) {
  return {overrides, device, threads};
}

void add_state(py::module_& module) {
  using State = Simulation::State;
  py::class_<State>(module, "State", "The state after a step, as in a row of history.csv; SI units.")
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
  py::class_<Simulation>(module, "Simulation", "A scene, stepped by the caller, with its particles at hand.")
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
      .def_property_readonly("step", &Simulation::step)
      .def_property_readonly("time", &Simulation::time)
      .def_property_readonly("time_step", &Simulation::time_step)
      .def_property_readonly("end_time", &Simulation::end_time)
      .def("advance", &advance, arg("steps") = 1, "Simulates so many steps and returns the State after them.")
      .def("state", &Simulation::state)
      .def("field", &field, arg("name"),
           "position, or a field as output.fields of a scene names it: an array of (particles), (particles, 3) or "
           "(particles, 3, 3) in the order of the ids, float32 or float64 as the scene's precision.")
      .def("probes",
           [](Simulation& simulation) {
             py::dict values;
             for (const auto& [name, value] : simulation.probes()) values[name.c_str()] = value;
             return values;
           })
      .def(
          "move_fixture",
          [](Simulation& simulation, const std::string& name, const Simulation::Vector& velocity,
             const Simulation::Vector& angular_velocity, const std::optional<Simulation::Vector>& about) {
            simulation.move_fixture(name, {velocity, angular_velocity, about});
          },
          arg("name"), arg("velocity") = Simulation::Vector{}, arg("angular_velocity") = Simulation::Vector{},
          arg("about") = std::nullopt,
          "From now on the fixture moves with velocity + angular_velocity x (x - about); without `about` it turns "
          "about "
          "the same point as before.")
      .def("release_fixture", &Simulation::release_fixture, arg("name"));
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
}
