"""Every option of the library, as frozen dataclasses. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any, ClassVar, Literal

from core.errors import require, require_choice, require_int, require_number
from core.fit_config import CpdConfig, Family

Objective = Literal["latent", "label"]
Kind = Literal["continuous", "discrete"]
Strategy = Literal["uniform", "quantile", "supervised"]

STRATEGIES: tuple[Strategy, ...] = ("uniform", "quantile", "supervised")
PAPER_RANKS = (5, 10, 15, 20, 30)


@dataclass(frozen=True, kw_only=True)
class GsmCpd:
    """The method itself: fit the joint distribution, then choose greedily what informs most.

    `ranks` holds the candidates, between which held-out rows decide, from the lowest on; a single
    one is taken as it is, and of several those above a fifth of the rows are left aside. A rank
    below the number of classes gives every class one state. The objective is averaged over
    `n_models` fits. `n_configurations` is the budget below which information is exact and above
    which it is estimated from that many samples of the model. A fit has `max_iter` iterations at
    most; where it begins on a sample of the rows (above 40,000), three tenths of them on all rows.
    """

    name: ClassVar[str] = "gsm_cpd"

    family: Family = "per_class"
    objective: Objective = "label"
    ranks: tuple[int, ...] = (1, 4, 10, 20, 40, 80)
    n_folds: int = 5
    n_models: int = 3
    n_init: int = 4
    max_iter: int = 100
    tol: float = 1e-4
    smoothing: float = 1.0
    n_configurations: int = 4096
    remodel: Literal["none", "step", "candidate"] = "none"
    greedy: Literal["lazy", "naive"] = "lazy"

    def __post_init__(self) -> None:
        listed = isinstance(self.ranks, tuple | list) and len(self.ranks) > 0
        require(listed, "ranks", f"must list at least one rank, not {self.ranks!r}")
        for rank in self.ranks:
            require_int(rank, "ranks", 1)
        require_choice(self.objective, "objective", ("latent", "label"))
        require_int(self.n_folds, "n_folds", 2)
        require_int(self.n_models, "n_models", 1)
        require_int(self.n_configurations, "n_configurations", 16)
        require_choice(self.remodel, "remodel", ("none", "step", "candidate"))
        require_choice(self.greedy, "greedy", ("lazy", "naive"))
        self.cpd(rank=self.ranks[0])

    @property
    def may_hear_others(self) -> bool:
        """Whether others than the states by the best cut may have a say in what is chosen.

        Columns that are cut at equal width, and counts of pairs of columns.
        """
        return self.objective == "label" and self.remodel == "none"

    def cpd(self, *, rank: int, seed: int = 0, n_threads: int = 0) -> CpdConfig:
        """The options of one fit at this rank."""
        return CpdConfig(
            rank=rank,
            family=self.family,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            smoothing=self.smoothing,
            n_threads=n_threads,
            seed=seed,
        )


@dataclass(frozen=True, kw_only=True)
class Pairwise:
    """Scores that are counted; if `correct`, less what chance adds to each on average."""

    correct: bool = False


@dataclass(frozen=True, kw_only=True)
class Mrmr(Pairwise):
    """Minimum redundancy, maximum relevance, in its difference form."""

    name: ClassVar[str] = "mrmr"


@dataclass(frozen=True, kw_only=True)
class Jmi(Pairwise):
    """Sum over the chosen of the information a pair has about the label."""

    name: ClassVar[str] = "jmi"


@dataclass(frozen=True, kw_only=True)
class Jmim(Pairwise):
    """Minimum over the chosen of the information a pair has about the label."""

    name: ClassVar[str] = "jmim"


@dataclass(frozen=True, kw_only=True)
class Cmim(Pairwise):
    """Minimum over the chosen of the information given that one."""

    name: ClassVar[str] = "cmim"


@dataclass(frozen=True, kw_only=True)
class Rjmi:
    """Matrix-based Renyi information of the whole set, exact up to `max_patterns` distinct rows."""

    name: ClassVar[str] = "rjmi"

    alpha: float = 1.01
    sigma: float = 1.0
    max_patterns: int = 1000

    def __post_init__(self) -> None:
        require_number(self.alpha, "alpha", 0)
        require(self.alpha not in (0, 1), "alpha", "must differ from 0 and 1")
        require_number(self.sigma, "sigma", 1e-6)
        require_int(self.max_patterns, "max_patterns", 2)


@dataclass(frozen=True, kw_only=True)
class Iselect:
    """Conditional information less a chi-square penalty; `confidence` is the quantile."""

    name: ClassVar[str] = "iselect"

    confidence: float = 0.95

    def __post_init__(self) -> None:
        require_number(self.confidence, "confidence", 0.5, 0.999999)


@dataclass(frozen=True, kw_only=True)
class GlobalFs:
    """The best subset of all under the same penalty, within `max_subsets` evaluations."""

    name: ClassVar[str] = "globalfs"

    confidence: float = 0.95
    max_subsets: int = 200_000

    def __post_init__(self) -> None:
        require_number(self.confidence, "confidence", 0.5, 0.999999)
        require_int(self.max_subsets, "max_subsets", 1)


Rival = Mrmr | Jmi | Jmim | Cmim | Rjmi | Iselect | GlobalFs
Method = GsmCpd | Rival
METHODS: tuple[type[Method], ...] = (GsmCpd, Mrmr, Jmi, Jmim, Cmim, Rjmi, Iselect, GlobalFs)


@dataclass(frozen=True, kw_only=True)
class Discretize:
    """How continuous columns are cut, and which columns are what when the rule is not to decide.

    With "auto" held-out rows decide between equal width, equal share and cuts where the label
    changes (supervised); a continuous target is cut into `target_bins`. A missing value is a level
    of its own where it tells about the label ("auto"), everywhere or nowhere.
    """

    bins: int = 5
    strategy: Literal["auto", "uniform", "quantile", "supervised"] = "auto"
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    target_bins: int = 5
    missing: Literal["auto", "level", "ignore"] = "auto"

    def __post_init__(self) -> None:
        require_int(self.bins, "discretize.bins", 2, 255)
        require_choice(self.strategy, "discretize.strategy", ("auto", *STRATEGIES))
        require_int(self.target_bins, "discretize.target_bins", 2, 255)
        require_choice(self.missing, "discretize.missing", ("auto", "level", "ignore"))
        for column, kind in self.kinds.items():
            require_choice(kind, f"discretize.kinds.{column}", ("continuous", "discrete"))


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which features take part: `include` come first, `candidates` are the only ones searched."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    candidates: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Evaluate:
    """Held-out accuracy of a nearest neighbour on the chosen features, for every K."""

    n_splits: int = 5
    test_fraction: float = 0.3
    values: Literal["codes", "raw"] = "codes"

    def __post_init__(self) -> None:
        require_int(self.n_splits, "evaluate.n_splits", 1)
        require_number(self.test_fraction, "evaluate.test_fraction", 0.01, 0.99)
        require_choice(self.values, "evaluate.values", ("codes", "raw"))


@dataclass(frozen=True, kw_only=True)
class Compare:
    """Several methods on the same splits, each choosing anew in every training part."""

    methods: tuple[Method, ...]
    n_splits: int = 10
    test_fraction: float = 0.3
    values: Literal["codes", "raw"] = "codes"

    def __post_init__(self) -> None:
        for position, method in enumerate(self.methods):
            twice = method in self.methods[:position]
            require(not twice, f"compare.methods.{position}", "is there twice")
        require(len(self.methods) >= 2, "compare.methods", "must be two or more")
        require_int(self.n_splits, "compare.n_splits", 2)
        require_number(self.test_fraction, "compare.test_fraction", 0.01, 0.99)
        require_choice(self.values, "compare.values", ("codes", "raw"))

    @property
    def labels(self) -> list[str]:
        """A name for each method; the second of a name, with other parameters, is `name (2)`."""
        names = [method.name for method in self.methods]
        counts = [names[: i + 1].count(name) for i, name in enumerate(names)]
        return [n if c == 1 else f"{n} ({c})" for n, c in zip(names, counts, strict=True)]

    @property
    def evaluate(self) -> Evaluate:
        """How each method is evaluated."""
        return Evaluate(
            n_splits=self.n_splits, test_fraction=self.test_fraction, values=self.values
        )


@dataclass(frozen=True, kw_only=True)
class Bootstrap:
    """How often each feature is chosen on random halves of the rows, drawn class by class."""

    n_samples: int = 50

    def __post_init__(self) -> None:
        require_int(self.n_samples, "stability.n_samples", 2)


@dataclass(frozen=True)
class SelectionConfig:
    """How many features, by which method, from what; `n_threads` (0: all cores) changes nothing."""

    k: int | Literal["auto"] = "auto"
    _: KW_ONLY
    method: Method = field(default_factory=GsmCpd)
    columns: Columns = field(default_factory=Columns)
    discretize: Discretize = field(default_factory=Discretize)
    weight_column: str | None = None
    evaluate: Evaluate | None = None
    seed: int = 0
    n_threads: int = 0

    def __post_init__(self) -> None:
        if self.k != "auto":
            require_int(self.k, "k", 1)
        require(isinstance(self.method, METHODS), "method", f"is unknown: {self.method!r}")
        require_int(self.seed, "seed", 0)
        require_int(self.n_threads, "n_threads", 0)

    @classmethod
    def paper(cls, k: int | Literal["auto"] = "auto", **options: Any) -> SelectionConfig:
        """The paper's own settings: joint model, I(X;Z), rank by cross-validation, 5 bins."""
        method = GsmCpd(
            family="joint", objective="latent", ranks=PAPER_RANKS, n_models=1, smoothing=0.1
        )
        options.setdefault("discretize", Discretize(strategy="uniform"))
        return cls(k, method=method, **options)


def method_to_dict(method: Method) -> dict[str, Any]:
    """The document that `method_from_dict` takes, completed."""
    parameters = {k: list(v) if isinstance(v, tuple) else v for k, v in vars(method).items()}
    return {"name": method.name, **parameters}


def method_from_dict(document: Mapping[str, Any]) -> Method:
    """The method that `document` names, with its parameters; unknown ones are refused."""
    parameters = dict(document)
    name = parameters.pop("name", None)
    by_name: dict[str, type[Method]] = {method.name: method for method in METHODS}
    require_choice(name, "method.name", tuple(by_name))
    method = by_name[str(name)]
    known = {f.name for f in fields(method)}
    for parameter in parameters:
        require(parameter in known, f"method.{parameter}", f"is not a parameter of {name}")
    if isinstance(parameters.get("ranks"), list):
        parameters["ranks"] = tuple(parameters["ranks"])
    return method(**parameters)
