#include "app/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
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

/// One field over all frames. A difference is the norm over the components; `scale` is the largest finite norm in
/// either result, the size of the scene for positions, and for stresses at least what rounding makes of none.
struct Difference {
  std::string name, unit;
  double largest = 0, sum = 0, scale = 0, time = 0;
  std::size_t particle = 0, count = 0;
  std::array<double, 3> place{};  ///< of that particle in the first result

  /// Infinite where only one of two numbers is finite.
  [[nodiscard]] double relative() const { return largest == 0 ? 0 : largest / scale; }
  [[nodiscard]] bool within(double tolerance) const { return std::isfinite(largest) && relative() <= tolerance; }
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
  void size(double norm) {
    if (std::isfinite(norm)) scale = std::max(scale, norm);
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
      if (!std::isfinite(positions.numbers[k])) continue;
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
  if (total.name == "position") total.size(diagonal(a));
  for (std::size_t i = 0; i * step < a.numbers.size(); ++i) {
    const Norms n = norms(&a.numbers[i * step], &b.numbers[i * step], a.components);
    total.add(n.difference, i, time);
    if (total.name != "position") total.size(std::max(n.a, n.b));
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
  /// What differs by more than the tolerance, or is missing in one result, sentence by sentence.
  [[nodiscard]] std::vector<std::string> problems(double tolerance) const {
    std::vector<std::string> beyond, infinite, problems;
    for (const auto& field : fields_)
      if (!field.within(tolerance)) (std::isfinite(field.largest) ? beyond : infinite).push_back(field.name);
    if (!beyond.empty())
      problems.push_back(fmt::format("Beyond the tolerance of {:g}: {}", tolerance, fmt::join(beyond, ", ")));
    if (!infinite.empty())
      problems.push_back(fmt::format("Finite in one of the results only: {}", fmt::join(infinite, ", ")));
    if (!skipped_.empty())
      problems.push_back(fmt::format("Missing in one of the results: {}", fmt::join(skipped_, ", ")));
    if (unmatched_ > 0) problems.emplace_back("Frames are missing in one of the results.");
    return problems;
  }

 private:
  void add(double time, const io::ParticleFrame& a, const io::ParticleFrame& b) {
    if (a.particles != b.particles)
      throw InputError(
          fmt::format("{} has {} particles and {} has {}: only results of the same bodies and spacing can be "
                      "compared particle by particle.",
                      a_.string(), a.particles, b_.string(), b.particles));
    ++frames_;
    for (const auto& field : a.fields) {
      const auto* other = b.find(field.name);
      if (other == nullptr || other->components != field.components)
        skip(field.name);
      else if (field.name != "id" && field.name != "body")
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

/// Whether the rows of one table are missing in the other. That of a run with smaller steps has rows between: a whole
/// number of them for each row of the other table.
bool rows_are_missing(const std::vector<double>& a, const std::vector<double>& b, std::size_t matched) {
  const auto [fewer, more] = std::minmax({a.size(), b.size()});
  if (fewer == 0 || matched < fewer || std::abs(a.back() - b.back()) > slack_of(a.back())) return more > 0;
  return fewer > 1 && (more - 1) % (fewer - 1) != 0;
}

io::CsvTable read_table(const fs::path& file) {
  auto table = read_part([&] { return io::CsvTable::read(file); });
  if (std::ranges::count(table.columns(), "time") == 0)
    throw InputError(fmt::format("{}: it has no column \"time\". Run the scene again with --force.", file.string()));
  return table;
}

/// Columns of `a` that `b` has too, or those that it lacks.
std::vector<std::string> columns_of(const io::CsvTable& a, const io::CsvTable& b, bool in_both) {
  auto columns = a.columns();
  std::erase_if(columns, [&](const auto& name) { return (std::ranges::count(b.columns(), name) != 0) != in_both; });
  return columns;
}

/// Prints the largest difference of every column of a table that both results have; rows are matched by time. Returns
/// what is missing or not finite in one result, sentence by sentence.
std::vector<std::string> print_table(const fs::path& a, const fs::path& b, const std::string& name) {
  const bool in_a = fs::exists(a / name), in_b = fs::exists(b / name);
  if (!in_a || !in_b) {  // without probes there are times alone, or no table in results of earlier versions
    if (in_a == in_b || read_table((in_a ? a : b) / name).columns().size() == 1) return {};
    return {fmt::format("{} is missing in one of the results.", name)};
  }
  const auto table_a = read_table(a / name), table_b = read_table(b / name);
  const auto times = table_a.column("time"), times_b = table_b.column("time");
  const auto matched = matched_rows(times, times_b);
  std::vector<std::vector<std::string>> rows{{"column", "largest", "relative", "mean", "at time"}};
  std::vector<std::string> infinite;
  for (const auto& column : columns_of(table_a, table_b, /*in_both=*/true)) {
    if (column == "time" || column == "step") continue;
    const auto values_a = table_a.column(column), values_b = table_b.column(column);
    Difference total;
    for (const auto& [r, s] : matched) {
      const Norms n = norms(&values_a[r], &values_b[s], 1);
      total.add(n.difference, r, times[r]);
      total.size(std::max(n.a, n.b));
    }
    if (!std::isfinite(total.largest)) infinite.push_back(column);
    rows.push_back({column, number(total.largest), number(total.relative()), number(total.mean()),
                    total.largest == 0 ? "" : fmt::format("{:g} s", total.time)});
  }
  const bool ran = std::ranges::any_of(matched, [&](const auto& pair) { return times[pair.first] > 0; });
  if (rows.size() > 1 && ran)
    fmt::print("\n{}, {} row{} of the same time\n{}", name, matched.size(), matched.size() == 1 ? "" : "s",
               format_table(rows));
  else if (rows.size() > 1)  // the start is alike in all runs of a scene
    fmt::print("\n{}: no row after the start has the same time in both results\n", name);

  std::vector<std::string> problems;
  auto lacking = columns_of(table_a, table_b, /*in_both=*/false);
  std::ranges::move(columns_of(table_b, table_a, /*in_both=*/false), std::back_inserter(lacking));
  if (!lacking.empty())
    problems.push_back(
        fmt::format("Columns of {} are missing in one of the results: {}", name, fmt::join(lacking, ", ")));
  if (!infinite.empty())
    problems.push_back(
        fmt::format("Columns of {} are finite in one of the results only: {}", name, fmt::join(infinite, ", ")));
  if (rows_are_missing(times, times_b, matched.size()))
    problems.push_back(fmt::format("Rows of {} are missing in one of the results.", name));
  return problems;
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
  std::vector<std::string> problems = comparison.problems(options.tolerance.value_or(0));
  for (const char* table : {"history.csv", "probes.csv"})
    std::ranges::move(print_table(options.a, options.b, table), std::back_inserter(problems));
  print_speed(record_a, record_b);
  if (!options.tolerance) return 0;
  if (problems.empty())
    fmt::print("\nEvery field agrees within {:g}.\n", *options.tolerance);
  else
    fmt::print("\n{}\n", fmt::join(problems, "\n"));
  return problems.empty() ? 0 : 1;
}

}  // namespace ductile::app
