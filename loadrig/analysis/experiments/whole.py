"""All experiments of one run, as frozen values, empty where it has none; docs/experiments.md says how to plan them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loadrig.analysis.experiments.ablation import Ablation, ablations
from loadrig.analysis.experiments.capability import Capability, capability
from loadrig.analysis.experiments.cells import cells
from loadrig.analysis.experiments.curves import Curve, curves
from loadrig.analysis.experiments.factors import Factor, Interaction, factors, interactions
from loadrig.log import RunFolder


@dataclass(frozen=True, slots=True)
class Experiments:
    """`factors`: what each option does; `interactions`: how far that hangs on another; `ablations`: proofs that one
    sentence alone was taken out; `curves`: accuracy over k; `capability`: wide against narrow, model by model."""

    factors: tuple[Factor, ...] = ()
    interactions: tuple[Interaction, ...] = ()
    ablations: tuple[Ablation, ...] = ()
    curves: tuple[Curve, ...] = ()
    capability: tuple[Capability, ...] = ()


def experiments(run: RunFolder, prompts: Mapping[str, bytes]) -> Experiments:
    """Of a run's folder and the fragments of its prompts, by hash."""
    every = cells(run)
    return Experiments(
        factors=factors(every),
        interactions=interactions(every),
        ablations=ablations(every, prompts),
        curves=curves(every),
        capability=capability(every),
    )
