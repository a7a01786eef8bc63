#include "app/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/text.hpp"
#include "common/error.hpp"
#include "io/csv.hpp"
#include "io/files.hpp"
#include "io/vtk.hpp"

namespace ductile::app {

namespace fs = std::filesystem;

namespace {

/// The same step reads the same time.
double slack_of(double time) { return 1e-9 * std::max(1.0, std::abs(time)); }

/// What `read` makes of a file of a result; the reason and what to do if it can't.
template <class Read>
auto read_part(Read read) {
  try {
    return read();
  } catch (const InputError& error) {
    throw InputError(
        fmt::format("{}\n    put back the file that the run wrote, or run the scene again with --force", error.what()));
  }
}

/// One field over all frames. A difference is the norm over the components; `scale` is the largest norm in either
/// result, the size of the scene for positions, and for stresses at least what rounding makes of none.
struct Difference {
  std::string name, unit;
  double largest = 0, sum = 0, scale = 0, time = 0;
  std::size_t particle = 0, count = 0;
  std::array<double, 3> place{};  ///< of that particle in the first result

  [[nodiscard]] double relative() const { return largest == 0 ? 0 : largest / scale; }
  [[nodiscard]] double mean() const { return count == 0 ? 0 : sum / double(count); }

  void add(double difference, std::size_t index, double now) {
    // A number against NaN differs by more than any number.
    if (std::isnan(difference)) difference = std::numeric_limits<double>::infinity();
    ++count;
    sum += difference;
    if (!(difference > largest)) return;
    largest = difference;
    particle = index;
    time = now;
  }
};

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Norms of a[k], b[k] and their difference over `components` numbers.
struct Norms {
  double a = 0, b = 0, difference = 0;
};
Norms norms(const double* a, const double* b, int components) {
  Norms squares;
  for (int c = 0; c < components; ++c) {
    squares.a += a[c] * a[c];
    squares.b += b[c] * b[c];
    if (!same(a[c], b[c])) squares.difference += (a[c] - b[c]) * (a[c] - b[c]);
  }
  return {std::sqrt(squares.a), std::sqrt(squares.b), std::sqrt(squares.difference)};
}

double diagonal(const io::ParticleFrame::Values& positions) {
  double squared = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t k = axis; k < positions.numbers.size(); k += 3) {
      low = std::min(low, positions.numbers[k]);
      high = std::max(high, positions.numbers[k]);
    }
    if (high > low) squared += (high - low) * (high - low);
  }
  return std::sqrt(squared);
}

void add_field(Difference& total, const io::ParticleFrame::Values& a, const io::ParticleFrame::Values& b,
               const io::ParticleFrame::Values& positions, double time) {
  const double largest_before = total.largest;
  total.unit = a.unit;
  const auto step = std::size_t(a.components);
  if (total.name == "position") total.scale = std::max(total.scale, diagonal(a));
  for (std::size_t i = 0; i * step < a.numbers.size(); ++i) {
    const Norms n = norms(&a.numbers[i * step], &b.numbers[i * step], a.components);
    total.add(n.difference, i, time);
    if (total.name != "position") total.scale = std::max({total.scale, n.a, n.b});
  }
  if (total.largest > largest_before) std::copy_n(&positions.numbers[3 * total.particle], 3, total.place.begin());
}

/// What both results have, and what only one has.
class FrameComparison {
 public:
  /// `least_stress`: smaller ones are rounding, in Pa.
  FrameComparison(fs::path a, fs::path b, double least_stress)
      : a_(std::move(a)), b_(std::move(b)), least_stress_(least_stress) {
    const auto frames_a = read_part([&] { return io::read_collection(a_ / "particles.pvd"); });
    const auto frames_b = read_part([&] { return io::read_collection(b_ / "particles.pvd"); });
    auto b_frame = frames_b.begin();
    for (const auto& [time, name] : frames_a) {
      const double slack = slack_of(time);
      while (b_frame != frames_b.end() && b_frame->first < time - slack) ++b_frame;
      if (b_frame == frames_b.end() || b_frame->first > time + slack) continue;
      add(time, read_part([&] { return io::read_particles(a_ / name); }),
          read_part([&] { return io::read_particles(b_ / b_frame->second); }));
    }
    unmatched_ = frames_a.size() + frames_b.size() - 2 * frames_;
    if (frames_ == 0)
      throw InputError(fmt::format("{} and {} have no frame of the same time: run both with the same output.interval.",
                                   a_.string(), b_.string()));
  }

  [[nodiscard]] const std::vector<Difference>& fields() const { return fields_; }
  [[nodiscard]] std::size_t frames() const { return frames_; }
  [[nodiscard]] std::size_t unmatched() const { return unmatched_; }
  [[nodiscard]] const std::vector<std::string>& skipped() const { return skipped_; }

 private:
  void add(double time, const io::ParticleFrame& a, const io::ParticleFrame& b) {
    if (a.particles != b.particles)
      throw InputError(
          fmt::format("{} has {} particles and {} has {}: only results of the same bodies and spacing can be "
                      "compared particle by particle.",
                      a_.string(), a.particles, b_.string(), b.particles));
    ++frames_;
    for (const auto& field : a.fields) {
      if (field.name == "id" || field.name == "body") continue;
      const auto* other = b.find(field.name);
      if (other == nullptr || other->components != field.components)
        skip(field.name);
      else
        add_field(total(field), field, *other, *a.find("position"), time);
    }
    for (const auto& field : b.fields)
      if (a.find(field.name) == nullptr) skip(field.name);
  }
  void skip(const std::string& name) {
    if (std::find(skipped_.begin(), skipped_.end(), name) == skipped_.end()) skipped_.push_back(name);
  }
  Difference& total(const io::ParticleFrame::Values& field) {
    const auto found =
        std::find_if(fields_.begin(), fields_.end(), [&](const auto& f) { return f.name == field.name; });
    if (found != fields_.end()) return *found;
    fields_.push_back({});
    fields_.back().name = field.name;
    if (field.name.ends_with("_stress")) fields_.back().scale = least_stress_;
    return fields_.back();
  }

  fs::path a_, b_;
  double least_stress_;
  std::vector<Difference> fields_;
  std::vector<std::string> skipped_;
  std::size_t frames_ = 0, unmatched_ = 0;
};

std::string number(double value) { return value == 0 ? "0" : fmt::format("{:.3g}", value); }

void print_fields(const FrameComparison& comparison) {
  std::vector<std::vector<std::string>> rows{
      {"field", "unit", "largest", "relative", "mean", "at particle", "at [m]", "at time"}};
  for (const auto& f : comparison.fields())
    rows.push_back({f.name, f.unit == "1" ? "" : f.unit, number(f.largest), number(f.relative()), number(f.mean()),
                    f.largest == 0 ? "" : std::to_string(f.particle),
                    f.largest == 0 ? "" : fmt::format("{:.3g}, {:.3g}, {:.3g}", f.place[0], f.place[1], f.place[2]),
                    f.largest == 0 ? "" : fmt::format("{:g} s", f.time)});
  fmt::print("Particles, {} frame{} of the same time\n{}", comparison.frames(), comparison.frames() == 1 ? "" : "s",
             format_table(rows));
  if (comparison.unmatched() > 0)
    fmt::print("  {} frame{} of one result only\n", comparison.unmatched(), comparison.unmatched() == 1 ? "" : "s");
  if (!comparison.skipped().empty()) fmt::print("  not in both results: {}\n", fmt::join(comparison.skipped(), ", "));
}

/// Rows of the same time, as pairs of their numbers.
std::vector<std::pair<std::size_t, std::size_t>> matched_rows(const std::vector<double>& a,
                                                              const std::vector<double>& b) {
  std::vector<std::pair<std::size_t, std::size_t>> rows;
  for (std::size_t r = 0, s = 0; r < a.size(); ++r) {
    const double slack = slack_of(a[r]);
    while (s < b.size() && b[s] < a[r] - slack) ++s;
    if (s < b.size() && b[s] <= a[r] + slack) rows.emplace_back(r, s++);
  }
  return rows;
}

/// Largest difference of every column of a table that both results have; rows are matched by time.
void print_table(const fs::path& a, const fs::path& b, const std::string& name) {
  if (!fs::exists(a / name) || !fs::exists(b / name)) return;
  const auto read = [&](const fs::path& folder) {
    auto table = read_part([&] { return io::CsvTable::read(folder / name); });
    if (std::ranges::count(table.columns(), "time") == 0)
      throw InputError(
          fmt::format("{}: it has no column \"time\". Run the scene again with --force.", (folder / name).string()));
    return table;
  };
  const auto table_a = read(a), table_b = read(b);
  const auto times = table_a.column("time");
  const auto matched = matched_rows(times, table_b.column("time"));
  std::vector<std::vector<std::string>> rows{{"column", "largest", "relative", "mean", "at time"}};
  const auto& known = table_b.columns();
  for (const auto& column : table_a.columns()) {
    if (column == "time" || column == "step" || std::find(known.begin(), known.end(), column) == known.end()) continue;
    const auto values_a = table_a.column(column), values_b = table_b.column(column);
    Difference total;
    for (const auto& [r, s] : matched) {
      const Norms n = norms(&values_a[r], &values_b[s], 1);
      total.add(n.difference, r, times[r]);
      total.scale = std::max({total.scale, n.a, n.b});
    }
    rows.push_back({column, number(total.largest), number(total.relative()), number(total.mean()),
                    total.largest == 0 ? "" : fmt::format("{:g} s", total.time)});
  }
  if (rows.size() == 1) return;  // without probes there are times alone
  const bool ran = std::ranges::any_of(matched, [&](const auto& pair) { return times[pair.first] > 0; });
  if (ran)
    fmt::print("\n{}, {} row{} of the same time\n{}", name, matched.size(), matched.size() == 1 ? "" : "s",
               format_table(rows));
  else  // the start is alike in all runs of a scene
    fmt::print("\n{}: no row after the start has the same time in both results\n", name);
}

nlohmann::json read_record(const fs::path& folder) {
  const fs::path file = folder / "run.json";
  try {
    auto record = nlohmann::json::parse(io::read_whole(file));
    if (!record.is_object()) throw InputError(fmt::format("{}: it is not the record of a run", file.string()));
    return record;
  } catch (const nlohmann::json::exception&) {  // its text is for programmers
    throw InputError(fmt::format("{}: it is damaged, or not a record of a run", file.string()));
  }
}

/// A value as text; "?" where the record lacks it, as those of other versions may.
std::string text_of(const nlohmann::json& record, const char* key) {
  const auto found = record.find(key);
  if (found == record.end()) return "?";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

/// NaN where the record has no such number.
double number_of(const nlohmann::json& record, const char* key) {
  const auto found = record.find(key);
  const bool number = found != record.end() && found->is_number();
  return number ? found->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

/// Stresses below it are rounding: Young's modulus times the coarser precision's unit. Records of earlier versions do
/// not have the modulus.
double least_stress(const nlohmann::json& a, const nlohmann::json& b) {
  const bool single = text_of(a, "precision") == "single" || text_of(b, "precision") == "single";
  const double unit = single ? double(std::numeric_limits<float>::epsilon()) : std::numeric_limits<double>::epsilon();
  // fmax leaves out what is not a number.
  const double modulus = std::fmax(number_of(a, "largest_youngs_modulus"), number_of(b, "largest_youngs_modulus"));
  return std::isfinite(modulus) ? unit * modulus : 0;
}

void print_speed(const nlohmann::json& a, const nlohmann::json& b) {
  std::vector<std::vector<std::string>> rows{{"run", "A", "B", "B / A"}};
  for (const char* key : {"backend", "device", "compiler", "version", "precision", "threads", "particles", "steps",
                          "iterations", "status"})
    rows.push_back({key, text_of(a, key), text_of(b, key), ""});
  const auto compare_number = [&](const char* label, const char* key, auto&& format) {
    const double first = number_of(a, key), second = number_of(b, key);
    const auto shown = [&](double value) { return std::isfinite(value) ? format(value) : std::string("?"); };
    const bool known = first > 0 && std::isfinite(second);
    rows.push_back({label, shown(first), shown(second), known ? fmt::format("{:.2f}", second / first) : "?"});
  };
  compare_number("wall time", "wall_seconds", format_seconds);
  compare_number("particle-iterations/s", "particle_iterations_per_second", format_count);
  compare_number("peak memory", "peak_memory_bytes", format_bytes);
  fmt::print("\nrun.json\n{}", format_table(rows));
}

}  // namespace

int compare(const CompareOptions& options) {
  for (const auto& folder : {options.a, options.b})
    if (!fs::is_regular_file(folder / "particles.pvd"))
      throw InputError(fmt::format("{} is not a result folder: it has no particles.pvd.", folder.string()));
  const auto record_a = read_part([&] { return read_record(options.a); });
  const auto record_b = read_part([&] { return read_record(options.b); });
  fmt::print("A {}: {}\nB {}: {}\n", options.a.string(), text_of(record_a, "title"), options.b.string(),
             text_of(record_b, "title"));
  if (text_of(record_a, "scene_digest") != text_of(record_b, "scene_digest"))
    fmt::print("The scenes differ in more than their end times.\n");
  const FrameComparison comparison(options.a, options.b, least_stress(record_a, record_b));
  fmt::print("\n");
  print_fields(comparison);
  for (const char* table : {"history.csv", "probes.csv"}) print_table(options.a, options.b, table);
  print_speed(record_a, record_b);
  if (!options.tolerance) return 0;
  std::vector<std::string> beyond;
  for (const auto& field : comparison.fields())
    if (!(field.relative() <= *options.tolerance)) beyond.push_back(field.name);
  if (beyond.empty() && comparison.unmatched() == 0) {
    fmt::print("\nEvery field agrees within {:g}.\n", *options.tolerance);
    return 0;
  }
  if (!beyond.empty()) fmt::print("\nBeyond the tolerance of {:g}: {}\n", *options.tolerance, fmt::join(beyond, ", "));
  if (comparison.unmatched() > 0) fmt::print("\nFrames are missing in one of the results.\n");
  return 1;
}

}  // namespace ductile::app
