"""Figure 2: stress-strain curves of the laws, with the continuous extension and with the printed hard switch."""

import json

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from common import RESULTS, ductile, table, write_scene

LAWS = ["corotated", "stvk", "neo-hookean", "hencky"]
SCENE = write_scene("figure2", """
[solver]
method    = "total-lagrangian"
time_step = 1e-3
end_time  = 1e-3
[materials.solid]
density = 1000.0
elastic = { model = "stvk", youngs_modulus = 1000.0, poisson_ratio = 0.3 }
[[bodies]]
name     = "cube"
material = "solid"
spacing  = 1.0
shape    = { type = "box", size = [1, 1, 1] }
""")


def curve(law, *overrides):
    """Stretch and nominal stress of a bar between grips, its sides held: F = diag(s, 1, 1)."""
    result = []
    for k in range(26):
        s = round(-0.5 + 0.08 * k, 2)
        sets = [word for o in (f"materials.solid.elastic.model={law}", *overrides) for word in ("--set", o)]
        _, out, _ = ductile("probe", SCENE, "--material", "solid", f"--F={s},0,0,0,1,0,0,0,1", *sets)
        result.append((s, json.loads(out)["P"][0]))
    return result


def main():
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    rows = []
    for axis, word in zip(axes, ("extended", "hard-switch")):
        for law in LAWS:
            points = curve(law, f"materials.solid.elastic.inversion={word}")
            axis.plot(*zip(*points), label=law)
            at = dict((round(s, 2), p) for s, p in points)
            rows.append([law, word, *(f"{at[round(s, 2)]:.0f}" for s in (-0.5, -0.02, 0.3, 0.54, 0.78, 1.5))])
        axis.set(title=word, xlabel="stretch", ylabel="nominal stress (Pa)", ylim=(-3000, 3000))
        axis.axhline(0, color="grey", linewidth=0.5)
        axis.legend()
    RESULTS.mkdir(parents=True, exist_ok=True)
    figure.savefig(RESULTS / "figure2.png", dpi=110, bbox_inches="tight")
    table(["law", "below 0.577", *(f"P at {s}" for s in (-0.5, -0.02, 0.3, 0.54, 0.78, 1.5))], rows)
    print("\nE = 1000 Pa, nu = 0.3, sides held. Paper: StVK loses its force below 58 % and is replaced by the corotated law.")
    print(f"Plot: {RESULTS / 'figure2.png'}")


main()
