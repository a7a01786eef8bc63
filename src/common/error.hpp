#pragma once

#include "ductile/error.hpp"
