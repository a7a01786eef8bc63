#include "app/completion.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "app/bench.hpp"
#include "common/error.hpp"

namespace ductile::app {

namespace {

struct Option {
  std::vector<std::string> names;  ///< with their dashes, the long one first
  std::string description;
  bool takes_value = false;
  std::string values;  ///< with blanks between, where there are only these
};
struct Command {
  std::string name, description;
  std::vector<Option> options;
  bool takes_scene = false;
  std::string words;  ///< that may follow, with blanks between
};

/// What an option takes, where that is one of a few words.
std::string values_of(const std::string& option) {
  if (option == "--path") return "uniaxial shear volumetric";
  if (option == "--precision") return "single double";
  return "";
}

/// What a command takes beside a scene, where that is one of a few words.
std::string words_of(const std::string& command) {
  if (command == "completion") return "bash zsh fish";
  if (command == "validate")
    return "reference rotation stress-strain cantilever residual plasticity-time-step column references robustness "
           "conservation performance";
  if (command != "bench") return "";
  std::string cases;
  for (const auto& [name, text] : bench_cases()) cases += (cases.empty() ? "" : " ") + name;
  return cases;
}

/// Shells take single quotes as they are, but not one within.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string names_of(const std::vector<Command>& commands, bool scenes_only = false) {
  std::string names;
  for (const auto& command : commands)
    if (command.takes_scene || !scenes_only) names += (names.empty() ? "" : scenes_only ? "|" : " ") + command.name;
  return names;
}

std::vector<Command> commands_of(const CLI::App& program) {
  std::vector<Command> commands;
  for (const CLI::App* sub : program.get_subcommands([](const CLI::App*) { return true; })) {
    Command command{sub->get_name(), sub->get_description(), {}, false, words_of(sub->get_name())};
    for (const CLI::Option* option : sub->get_options([](const CLI::Option*) { return true; })) {
      if (option->get_positional()) command.takes_scene |= option->get_single_name() == "scene";
      Option found{{}, option->get_description(), option->get_items_expected_max() > 0, ""};
      for (const auto& name : option->get_lnames()) found.names.push_back("--" + name);
      for (const auto& name : option->get_snames()) found.names.push_back("-" + name);
      if (found.names.empty()) continue;
      found.values = values_of(found.names.front());
      command.options.push_back(found);
    }
    commands.push_back(command);
  }
  commands.push_back({"help", "explain a command", {}, false, names_of(commands)});
  return commands;
}

std::string bash(const std::vector<Command>& commands) {
  std::string cases, values;
  for (const auto& command : commands) {
    std::vector<std::string> all, with_value;
    for (const auto& option : command.options) {
      all.insert(all.end(), option.names.begin(), option.names.end());
      if (option.takes_value) with_value.insert(with_value.end(), option.names.begin(), option.names.end());
      if (!option.values.empty())
        values += fmt::format("    {}) offers='{}' files= ;;\n", fmt::join(option.names, "|"), option.values);
    }
    cases += fmt::format("    {}) options='{}' takes=' {} ' words='{}' ;;\n", command.name, fmt::join(all, " "),
                         fmt::join(with_value, " "), command.words);
  }
  return fmt::format(R"sh(_ductile() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} options= takes= words= offers= files=1 given=0 before= k
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W '{0} --help --version' -- "$word")
    return
  fi
  case ${{COMP_WORDS[1]}} in
{1}  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    return
  fi
  # Words that are neither options nor their values; afterwards `before` is an option that waits for its value.
  for ((k = 2; k < COMP_CWORD; ++k)); do
    if [[ -n $before ]]; then before=
    elif [[ $takes == *" ${{COMP_WORDS[k]}} "* ]]; then before=${{COMP_WORDS[k]}}
    elif [[ ${{COMP_WORDS[k]}} != -* ]]; then given=1
    fi
  done
  case $before in
{3}    '')
      case ${{COMP_WORDS[1]}} in
        {2}) ((given)) || offers=$("${{COMP_WORDS[0]}}" scenes --names 2>/dev/null) ;;
        *)
          offers=$words
          [[ -z $words ]] || files=
          ;;
      esac
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$offers" -- "$word"; [[ -z $files ]] || compgen -f -- "$word")
  compopt -o filenames 2>/dev/null
}}
complete -F _ductile ductile
)sh",
                     names_of(commands), cases, names_of(commands, true), values);
}

/// In a specification of _arguments brackets and colons have a meaning.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh(const std::vector<Command>& commands) {
  std::string described, cases;
  for (const auto& command : commands) {
    described += fmt::format("    {}\n", quoted(plain(command.name) + ":" + command.description));
    std::string specs;
    for (const auto& option : command.options)
      for (const auto& name : option.names)
        specs += fmt::format(" \\\n        {}",
                             quoted(fmt::format("*{}[{}]{}", name, plain(option.description),
                                                !option.takes_value     ? ""
                                                : option.values.empty() ? ":value:_files"
                                                                        : ":value:(" + option.values + ")")));
    const std::string rest = command.takes_scene      ? " \\\n        '1:scene:_ductile_scenes'"
                             : !command.words.empty() ? fmt::format(" \\\n        '*:word:({})'", command.words)
                                                      : " \\\n        '*:file:_files'";
    cases += fmt::format("      {}) _arguments{}{} ;;\n", command.name, specs, rest);
  }
  return fmt::format(R"sh(#compdef ductile
_ductile_scenes() {{
  local -a names
  names=(${{(f)"$(ductile scenes --names 2>/dev/null)"}})
  compadd -a names
  _files -g '*.toml'
}}
_ductile() {{
  local -a commands
  commands=(
{}  )
  if ((CURRENT == 2)); then
    _describe command commands
  else
    shift words
    ((CURRENT--))
    case ${{words[1]}} in
{}    esac
  fi
}}
if [[ $funcstack[1] == _ductile ]]; then _ductile "$@"; else compdef _ductile ductile; fi
)sh",
                     described, cases);
}

std::string fish(const std::vector<Command>& commands) {
  std::string text = "complete -c ductile -n __fish_use_subcommand -f\n";
  for (const auto& command : commands) {
    const std::string here = fmt::format("'__fish_seen_subcommand_from {}'", command.name);
    text += fmt::format("complete -c ductile -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        quoted(command.description));
    for (const auto& option : command.options) {
      std::string names;
      for (const auto& name : option.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      const std::string value = !option.takes_value     ? ""
                                : option.values.empty() ? " -r"
                                                        : fmt::format(" -x -a {}", quoted(option.values));
      text += fmt::format("complete -c ductile -n {}{}{} -d {}\n", here, names, value, quoted(option.description));
    }
    if (command.takes_scene)
      text += fmt::format("complete -c ductile -n {} -a '(ductile scenes --names 2>/dev/null)'\n", here);
    if (!command.words.empty())
      text += fmt::format("complete -c ductile -n {} -f -a {}\n", here, quoted(command.words));
  }
  return text;
}

}  // namespace

std::string completion(const CLI::App& program, const std::string& shell) {
  const auto commands = commands_of(program);
  if (shell == "bash") return bash(commands);
  if (shell == "zsh") return zsh(commands);
  if (shell == "fish") return fish(commands);
  throw InputError(fmt::format("There is no completion for \"{}\", only for bash, zsh and fish.", shell));
}

}  // namespace ductile::app
