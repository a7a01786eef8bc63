#pragma once

#include <CLI/App.hpp>

#include <string>

namespace ductile::app {

/// The script that completes this program's commands, options and scenes in bash, zsh or fish.
[[nodiscard]] std::string completion(const CLI::App& program, const std::string& shell);

}  // namespace ductile::app
