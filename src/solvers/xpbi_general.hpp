#pragma once

#include "solvers/xpbi_sweeps.hpp"

namespace ductile {

template <class Real, bool Memory>
void Xpbi<Real, Memory>::sweep_general(Group& group, MultiplierKind kind, Vec4<Real>* target, Real* violation) {
  const GeneralMultiplier<Real> multiplier{kind,
                                           {multiplier_.data(), second_multiplier_.data()},
                                           {stress_multiplier_.data(), misfit_multiplier_.data()},
                                           {{multiplier_.data()}, stress_multiplier_.data()}};
  const bool balance = kind == MultiplierKind::balance;
  launch_sweeps(group, balance ? "xpbi.balance" : "xpbi.sweep", multiplier, target, violation, !balance);
}

}  // namespace ductile
