"""Figure 2: stress-strain curves of the laws, with the continuous extension and with the printed hard switch."""

import json

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from common import RESULTS, ductile, table, write_scene

LAWS = ["linear", "corotated", "fixed-corotated", "stvk", "neo-hookean", "hencky"]
EXTENDED = ("stvk", "neo-hookean", "hencky")  # below the critical stretch; the others are defined for every deformation
STRETCHES = [round(-0.5 + 0.08 * k, 2) for k in range(26)]
SHOWN = (-0.5, -0.02, 0.3, 0.54, 0.78, 1.5)
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
    for s in STRETCHES:
        sets = [word for o in (f"materials.solid.elastic.model={law}", *overrides) for word in ("--set", o)]
        _, out, _ = ductile("probe", SCENE, "--material", "solid", f"--F={s},0,0,0,1,0,0,0,1", *sets)
        result.append((s, json.loads(out)["P"][0]))
    return result


def main():
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    whole = {law: curve(law) for law in LAWS if law not in EXTENDED}
    rows = []
    for axis, word in zip(axes, ("extended", "hard-switch")):
        for law in LAWS:
            points = whole.get(law) or curve(law, f"materials.solid.elastic.inversion={word}")
            axis.plot(*zip(*points), label=law)
            if law in EXTENDED or word == "extended":
                at = dict(points)
                rows.append([law, word if law in EXTENDED else "the same law", *(f"{at[s]:.0f}" for s in SHOWN)])
        axis.set(title=word, xlabel="stretch", ylabel="nominal stress (Pa)", ylim=(-3000, 3000))
        axis.axhline(0, color="grey", linewidth=0.5)
        axis.legend()
    RESULTS.mkdir(parents=True, exist_ok=True)
    figure.savefig(RESULTS / "figure2.png", dpi=110, bbox_inches="tight")
    table(["law", "below 0.577", *(f"P at {s}" for s in SHOWN)], rows)
    print("\nE = 1000 Pa, nu = 0.3, sides held. Paper: StVK loses its force below 58 % and is replaced by the corotated law.")
    print(f"Plot: {RESULTS / 'figure2.png'}")


if __name__ == "__main__":
    main()
