"""Markov chains and the transformers that learn them, exactly and fast.

Every public name is reachable from here and loaded when it is first used, so that
``import markov_transformers`` costs next to nothing and never imports torch.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

_HOMES = {
    "walks": ("CircleWalk",),
    "chains": ("NGramChain", "DirichletPrior"),
    "information": (
        "chi2_divergence",
        "chi2_information",
        "copying_gap_threshold",
        "empirical_windows",
        "information_of_subsets",
        "InformationSet",
        "information_set",
        "modified_chi2_information",
        "shannon_information",
    ),
    "induction": (
        "BayesOptimal",
        "FullHistoryMatch",
        "GeneralizedInductionHead",
        "InductionHead",
        "Unigram",
        "best_report",
        "match_features",
        "match_kernel",
        "monomial_features",
        "n_monomial_features",
    ),
    "windows": ("WindowCounts", "ScoreCounts"),
    "staged": ("StagedModel",),
    "full_model": ("FullModel",),
    "layer_norm": ("LayerNormModel",),
    "dynamics": ("Trajectory",),
    "readout": ("SoftmaxCrossEntropy",),
    "selection": ("SelectionMap", "blurred_information", "predict_selection", "train_selection"),
    "reweighting": ("classifier_speed", "induction_head_bound", "reweighted_law"),
    "losses": ("LogLoss", "SquareLoss", "LogisticLoss", "HingeLoss", "ExponentialLoss"),
    "one_layer": (
        "OneLayerModel",
        "OneLayerParameters",
        "OneLayerRun",
        "sine_positions",
    ),
    "questions": (
        "BagOfWordsTest",
        "TemplateTask",
        "bag_of_words_test",
        "majority_task",
        "preference_task",
    ),
    "relu": ("ReluModel", "ReluParameters", "ReluRun"),
    "symmetry": (
        "SymmetricSolution",
        "follow_deviation",
        "lag_profile",
        "symmetric_solution",
        "train_with_gram",
    ),
    "explorer": ("Explorer", "Slider", "Choice"),
    "exercises": ("check",),
    "_progress": ("progress",),
}
_MODULES = (
    *(home for home in _HOMES if not home.startswith("_")),
    "claims",
    "explorers",
    "figures",
    "labs",
    "models",
    "reproduce",
)
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

# Without "models", so that a star import works where torch is missing.
__all__ = ["__version__", *_HOME_OF, *(module for module in _MODULES if module != "models")]


def __getattr__(name: str) -> object:
    if name in _HOME_OF:
        value = getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
