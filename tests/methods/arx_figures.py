"""Facts: what ARX's own tests expect of its searches, for tables that are public.

`OPTIMA` are optima over the whole lattice, on adult and on fars without its states tried node by node. `FOUND` is what
ARX returned where a second computation does not agree or was not made: its heuristic, models of a population, and
models whose verdict hangs on the order in which ARX visits equal groups (sample uniqueness) or values (the corrected
entropy, which gives up on a partial sum). `NODES` are scores of single nodes, valid or not. Every level is given by its
column; the digits below follow the column order of the file without the sensitive column, which is ARX's order. A
sensitive column is never a quasi-identifier, whether a requirement reads it or not. Weights are equal. What ARX finds
under «practical monotonicity», where it may stop short of the optimum, is left out.

Tables: adult is `adult_arx_30162` with `hierarchies_arx`, cup is `cup_63441` with `cup_hierarchy_*`. `adult_europa` is
adult as ARX had it before 2017, one label misspelt (`CHANGED_LABELS`). fars is `fars_100937_int` with
`fars_int_hierarchy_*`, other labels for the same groups; isex has three leaves right below the root. Nothing is listed
that needs ARX's subset files (δ-presence, k-map inside a sample) or its seeded subsets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

COLUMNS = {
    "adult": (
        "sex",
        "age",
        "race",
        "marital-status",
        "education",
        "native-country",
        "workclass",
        "occupation",
        "salary-class",
    ),
    "cup": ("ZIP", "AGE", "GENDER", "INCOME", "STATE", "RAMNTALL", "NGIFTALL", "MINRAMNT"),
    "fars": ("iage", "irace", "ideathmon", "ideathday", "isex", "ihispanic", "istatenum", "iinjury"),
}
COLUMNS["adult_europa"] = COLUMNS["adult"]
SENSITIVE = {"adult": "occupation", "adult_europa": "occupation", "cup": "RAMNTALL", "fars": "istatenum"}
CHANGED_LABELS = {"adult_europa": {"native-country": {"England": ("England", "Europa", "*")}}}


class Figure(NamedTuple):
    """One search. `requirements` and `metric` are names with arguments; no levels means nothing is valid."""

    data: str
    sensitive: str | None
    requirements: tuple[tuple[Any, ...], ...]
    metric: tuple[str, dict[str, Any]]
    limit: float
    score: float | tuple[float, ...] | None
    levels: dict[str, int] | None
    source: str

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        return tuple(column for column in COLUMNS[self.data] if column != self.sensitive)


ENTROPY = ("NonUniformEntropy", {"monotonic": False, "aggregate": "sum"})
MONOTONIC_ENTROPY = ("NonUniformEntropy", {"monotonic": True, "aggregate": "sum"})
DM = ("Discernibility", {"monotonic": False})
DM_STAR = ("Discernibility", {"monotonic": True})
AECS = ("AverageClassSize", {"gs_factor": 0.5})
PRECISION = ("Precision", {"monotonic": False, "gs_factor": 0.5, "aggregate": "arithmetic_mean"})


def loss(gs_factor: float = 0.5, aggregate: str = "geometric_mean") -> tuple[str, dict[str, Any]]:
    return "Loss", {"gs_factor": gs_factor, "aggregate": aggregate}


def k(size: int) -> tuple[Any, ...]:
    return "KAnonymity", size


def diversity(l: int, kind: str, on: str = "occupation", c: float | None = None) -> tuple[Any, ...]:
    return "LDiversity", l, on, kind, c


def closeness(t: float, distance: str, on: str = "occupation") -> tuple[Any, ...]:
    return "TCloseness", t, on, distance


def likeness(beta: float, kind: str) -> tuple[Any, ...]:
    return "BetaLikeness", beta, "occupation", kind


def search(
    source: str, asked: tuple[Any, ...], limit: float, score: float | tuple[float, ...] | None, digits: str | None
) -> Figure:
    data, wide, requirements, metric = asked
    columns = [column for column in COLUMNS[data] if wide or column != SENSITIVE[data]]
    levels = None if digits is None else dict(zip(columns, map(int, digits), strict=True))
    sensitive = None if wide else SENSITIVE[data]
    return Figure(data, sensitive, requirements, metric, limit, score, levels, source)


def adult(metric: tuple[str, dict[str, Any]], *requirements: tuple[Any, ...]) -> tuple[Any, ...]:
    return "adult", False, requirements, metric


def adult_wide(metric: tuple[str, dict[str, Any]], *requirements: tuple[Any, ...]) -> tuple[Any, ...]:
    return "adult", True, requirements, metric


def europa(metric: tuple[str, dict[str, Any]], *requirements: tuple[Any, ...]) -> tuple[Any, ...]:
    return "adult_europa", False, requirements, metric


def cup(metric: tuple[str, dict[str, Any]], *requirements: tuple[Any, ...]) -> tuple[Any, ...]:
    return "cup", False, requirements, metric


def cup_wide(metric: tuple[str, dict[str, Any]], *requirements: tuple[Any, ...]) -> tuple[Any, ...]:
    return "cup", True, requirements, metric


def fars(metric: tuple[str, dict[str, Any]], *requirements: tuple[Any, ...]) -> tuple[Any, ...]:
    return "fars", False, requirements, metric


def fars_wide(metric: tuple[str, dict[str, Any]], *requirements: tuple[Any, ...]) -> tuple[Any, ...]:
    return "fars", True, requirements, metric


KA, LD, EL = "TestAnonymizationKAnonymity", "TestAnonymizationLDiversity", "TestAnonymizationEntropyLDiversity"
TC, OD, BL = "TestAnonymizationTCloseness", "TestAnonymizationOrderedDistanceTCloseness", "TestAnonymizationBLikeness"
CO, RB, KM = "TestAnonymizationCombinations", "TestAnonymizationRiskBased", "TestAnonymizationKMap"
HE, UL, UM = "TestAnonymizationHeuristic", "TestUtilityMetricsLoss", "TestUtilityMetrics"

GIFT, STATE = "RAMNTALL", "istatenum"
STATE_TREE = closeness(0.2, "hierarchical", STATE)
STATE_RECURSIVE = diversity(5, "recursive", STATE, 4.0)
TREE, GIFT_TREE = closeness(0.2, "hierarchical"), closeness(0.2, "hierarchical", GIFT)
EQUAL = closeness(0.2, "equal")
RECURSIVE, GIFT_RECURSIVE = diversity(5, "recursive", c=4.0), diversity(5, "recursive", GIFT, 4.0)

OPTIMA: list[Figure] = [
    search(KA, adult_wide(MONOTONIC_ENTROPY, k(5)), 0.04, 255559.85455731067, "101132201"),
    search(KA, adult_wide(MONOTONIC_ENTROPY, k(100)), 0.04, 379417.3460570988, "111132211"),
    search(KA, adult_wide(MONOTONIC_ENTROPY, k(5)), 0.0, 407289.5388925293, "121132211"),
    search(KA, adult_wide(MONOTONIC_ENTROPY, k(100)), 0.0, 453196.8932458743, "041132211"),
    search(KA, cup_wide(ENTROPY, k(5)), 0.04, 1764006.4033760305, "24010444"),
    search(KA, cup_wide(ENTROPY, k(100)), 0.04, 1994002.8308631124, "34110444"),
    search(KA, cup_wide(ENTROPY, k(5)), 0.0, 2445878.424834677, "44111444"),
    search(KA, cup_wide(ENTROPY, k(100)), 0.0, 2517471.5816586106, "54101444"),
    search(LD, adult(ENTROPY, diversity(5, "entropy")), 0.04, 228878.2039109517, "10112221"),
    search(LD, adult(ENTROPY, diversity(100, "entropy")), 0.04, None, None),
    search(LD, adult(ENTROPY, diversity(5, "entropy")), 0.0, 324620.5269918692, "11113221"),
    search(LD, adult(ENTROPY, diversity(100, "entropy")), 0.0, None, None),
    search(LD, cup(DM_STAR, diversity(5, "entropy", GIFT)), 0.04, 2823649.0, "4001131"),
    search(LD, cup(DM_STAR, diversity(100, "entropy", GIFT)), 0.04, 88290083.0, "3412121"),
    search(LD, cup(MONOTONIC_ENTROPY, diversity(5, "distinct", GIFT)), 0.04, 1244350.7034669477, "2401031"),
    search(LD, cup(MONOTONIC_ENTROPY, diversity(100, "distinct", GIFT)), 0.04, 1552136.4930241706, "3412021"),
    search(LD, cup(DM_STAR, diversity(5, "entropy", GIFT)), 0.0, 301506905.0, "4411144"),
    search(LD, cup(DM_STAR, diversity(100, "entropy", GIFT)), 0.0, 619637215.0, "5410144"),
    search(LD, cup(MONOTONIC_ENTROPY, diversity(5, "distinct", GIFT)), 0.0, 1961244.4822559545, "4411144"),
    search(LD, cup(MONOTONIC_ENTROPY, diversity(100, "distinct", GIFT)), 0.0, 2032837.6390798881, "5410144"),
    search(EL, cup(DM_STAR, diversity(3, "entropy", GIFT)), 0.0, 92264547.0, "4410144"),
    search(TC, adult(DM_STAR, EQUAL, k(5)), 0.04, 311880088.0, "14103221"),
    search(TC, adult(DM_STAR, EQUAL, k(100)), 0.04, 311880088.0, "14103221"),
    search(TC, adult(MONOTONIC_ENTROPY, TREE, k(5)), 0.04, 377622.78458729305, "14003221"),
    search(TC, adult(MONOTONIC_ENTROPY, TREE, k(100)), 0.04, 390765.61326019815, "14103121"),
    search(TC, europa(MONOTONIC_ENTROPY, TREE, k(100)), 0.04, 390436.40440636466, "14103121"),
    search(TC, adult(DM_STAR, EQUAL, k(5)), 0.0, 456853172.0, "14113221"),
    search(TC, adult(DM_STAR, EQUAL, k(100)), 0.0, 456853172.0, "14113221"),
    search(TC, adult(MONOTONIC_ENTROPY, TREE, k(5)), 0.0, 398400.0741806447, "04113221"),
    search(TC, adult(MONOTONIC_ENTROPY, TREE, k(100)), 0.0, 398400.0741806447, "04113221"),
    search(TC, cup(ENTROPY, GIFT_TREE, k(5)), 0.04, 1407619.3716609064, "3410044"),
    search(TC, cup(ENTROPY, GIFT_TREE, k(100)), 0.04, 1509368.8882843896, "3411044"),
    search(TC, cup(ENTROPY, GIFT_TREE, k(5)), 0.0, 2023751.243421626, "4412144"),
    search(TC, cup(ENTROPY, GIFT_TREE, k(100)), 0.0, 2032837.6390798881, "5410144"),
    search(OD, adult(DM_STAR, closeness(0.2, "ordered"), k(5)), 0.04, 2712340.0, "00112220"),
    search(OD, adult(DM_STAR, closeness(0.2, "ordered"), k(100)), 0.04, 19937246.0, "10123221"),
    search(OD, adult(DM_STAR, closeness(0.1, "ordered"), k(5)), 0.0, 97868020.0, "11123221"),
    search(OD, adult(DM_STAR, closeness(0.2, "ordered"), k(100)), 0.0, 162312130.0, "14111221"),
    search(BL, adult(loss(), likeness(3, "basic")), 0.5, 0.34883856157237925, "03002010"),
    search(BL, adult(loss(), likeness(2, "enhanced")), 0.0, 0.759176305345683, "14113220"),
    search(BL, adult(loss(), likeness(1, "basic")), 1.0, 0.6081345989904172, "14013020"),
    search(BL, adult(loss(), likeness(10, "enhanced")), 1.0, 0.3419039849540606, "03003120"),
    search(BL, adult(loss(), likeness(5, "basic")), 0.4, 0.23350465152356303, "02002010"),
    search(CO, adult(MONOTONIC_ENTROPY, k(5)), 0.0, 324620.5269918692, "11113221"),
    search(CO, adult(MONOTONIC_ENTROPY, TREE), 0.0, 398400.0741806447, "04113221"),
    search(CO, adult(MONOTONIC_ENTROPY, RECURSIVE), 0.0, 324620.5269918692, "11113221"),
    search(CO, adult(ENTROPY, k(5)), 0.05, 180132.40848244698, "00112220"),
    search(CO, europa(MONOTONIC_ENTROPY, k(5), TREE), 0.05, 367061.3691338439, "14003121"),
    search(CO, europa(MONOTONIC_ENTROPY, TREE), 0.05, 367061.3691338439, "14003121"),
    search(CO, adult(MONOTONIC_ENTROPY, RECURSIVE), 0.05, 198181.4042332967, "10112220"),
    search(CO, europa(ENTROPY, k(5), TREE), 0.05, 375361.41655411746, "14003121"),
    search(CO, adult(ENTROPY, RECURSIVE), 0.05, 209764.96161974416, "10112220"),
    search(CO, cup(MONOTONIC_ENTROPY, k(5)), 0.0, 1961244.4822559545, "4411144"),
    search(CO, cup(MONOTONIC_ENTROPY, GIFT_TREE), 0.0, 2023751.243421626, "4412144"),
    search(CO, cup(MONOTONIC_ENTROPY, GIFT_RECURSIVE), 0.0, 1961244.4822559545, "4411144"),
    search(CO, cup(ENTROPY, k(5)), 0.05, 1252060.0068011207, "2410044"),
    search(CO, cup(MONOTONIC_ENTROPY, k(5), GIFT_TREE), 0.05, 1377036.0221522974, "2412031"),
    search(CO, cup(MONOTONIC_ENTROPY, GIFT_TREE), 0.05, 1377036.0221522974, "2412031"),
    search(CO, cup(MONOTONIC_ENTROPY, GIFT_RECURSIVE), 0.05, 1202354.6618344877, "2410031"),
    search(CO, cup(ENTROPY, k(5), GIFT_TREE), 0.05, 1407619.3716609064, "3410044"),
    search(CO, cup(ENTROPY, GIFT_RECURSIVE), 0.05, 1254396.0338242182, "2410044"),
    search(HE, adult_wide(loss(), k(5)), 1.0, 0.22041192847984292, "030021110"),
    search(HE, adult_wide(ENTROPY, k(100)), 0.04, 383803.4034066361, "111132211"),
    search(HE, adult_wide(loss(0.1), k(5)), 1.0, 0.09257312971977383, "030000000"),
    search(HE, adult_wide(ENTROPY, k(100)), 1.0, 353204.98690739064, "101232211"),
    search(HE, adult_wide(loss(), k(5)), 0.04, 0.26611081915757495, "030111120"),
    search(RB, adult_wide(ENTROPY, ("AverageRisk", 0.01)), 0.04, 314637.8461904862, "101132211"),
    search(KA, fars_wide(DM_STAR, k(5)), 0.04, 4469271.0, "02221210"),
    search(KA, fars_wide(DM_STAR, k(100)), 0.04, 56052481.0, "02331222"),
    search(KA, fars_wide(DM_STAR, k(5)), 0.0, 142377891.0, "12331212"),
    search(KA, fars_wide(DM_STAR, k(100)), 0.0, 436925397.0, "52331202"),
    search(LD, fars(MONOTONIC_ENTROPY, STATE_RECURSIVE), 0.04, 590389.0228300437, "0211020"),
    search(LD, fars(MONOTONIC_ENTROPY, diversity(100, "recursive", STATE, 4.0)), 0.04, None, None),
    search(LD, fars(ENTROPY, diversity(5, "distinct", STATE)), 0.04, 629604.893355563, "0211020"),
    search(LD, fars(ENTROPY, diversity(100, "distinct", STATE)), 0.04, None, None),
    search(LD, fars(MONOTONIC_ENTROPY, STATE_RECURSIVE), 0.0, 1201007.0880104562, "0233122"),
    search(LD, fars(ENTROPY, diversity(5, "distinct", STATE)), 0.0, 1201007.0880104562, "0233122"),
    search(TC, fars(DM_STAR, STATE_TREE, k(5)), 0.04, 42929731.0, "0232121"),
    search(TC, fars(DM_STAR, STATE_TREE, k(100)), 0.04, 92944831.0, "0233022"),
    search(TC, fars(DM_STAR, STATE_TREE, k(5)), 0.0, 780794309.0, "1233122"),
    search(TC, fars(DM_STAR, STATE_TREE, k(100)), 0.0, 780794309.0, "1233122"),
    search(CO, fars(MONOTONIC_ENTROPY, k(5)), 0.0, 1201007.0880104562, "0233122"),
    search(CO, fars(MONOTONIC_ENTROPY, STATE_TREE), 0.0, 1429434.050891089, "1233122"),
    search(CO, fars(ENTROPY, k(5)), 0.05, 560028.8197749631, "0023000"),
    search(CO, fars(MONOTONIC_ENTROPY, k(5), STATE_TREE), 0.05, 913268.7198249138, "2211020"),
    search(CO, fars(MONOTONIC_ENTROPY, STATE_TREE), 0.05, 913268.7198249138, "2211020"),
    search(CO, fars(MONOTONIC_ENTROPY, STATE_RECURSIVE), 0.05, 585933.0095846694, "0201120"),
    search(CO, fars(ENTROPY, k(5), STATE_TREE), 0.05, 958932.8909394152, "2211020"),
    search(CO, fars(ENTROPY, STATE_RECURSIVE), 0.05, 630178.7565353523, "0211020"),
]

RANKS: list[tuple[float, float, tuple[tuple[Any, ...], ...], str, str]] = [
    (0.5, 1.0, (k(5), TREE), "03002110", "8635899476 8388227381 836307274 8176580472" + " 7743518334" * 4),
    (0.5, 1.0, (k(5),), "03001000", "297248193 29678055" + " 1297659306" * 6),
    (0.5, 1.0, (RECURSIVE,), "03001110", "4141161537 4048463298 345266671 3371819112" + " 1797626152" * 4),
    (0.5, 0.05, (k(5), TREE), "14003121", "1 1 1 1 1 3095956833 0487699754 0487699754"),
    (0.5, 0.05, (RECURSIVE,), "03003120", "1 1 3036444864 2253280098" + " 0413434122" * 4),
    (0.5, 0.05, (TREE,), "14003121", "1 1 1 1 1 3095956833 0487699754 0487699754"),
    (0.0, 1.0, (k(5),), "00000000", "0" + " 0" * 7),
    (0.0, 0.05, (k(5), TREE), "14003121", "1 1 1 1 1 271754194 0 0"),
    (0.0, 0.05, (RECURSIVE,), "03003120", "1 1 271754194 1919191919 0 0 0 0"),
    (0.33, 1.0, (k(5), TREE), "01000000", "6348915854" + " 6195185995" * 7),
    (0.33, 1.0, (k(5),), "01000000", "2300344804" + " 1976148796" * 7),
    (0.33, 1.0, (RECURSIVE,), "02000000", "3414163517" + " 2755579868" * 7),
    (0.33, 0.05, (k(5), TREE), "14003121", "1 1 1 1 1 2967295769 0321881838 0321881838"),
    (0.33, 0.05, (RECURSIVE,), "03003120", "1 1 292801787 2139690117" + " 027286652" * 4),
    (0.66, 1.0, (k(5),), "03001110", "2381886447 2373814339 1860658044 1839097593" + " 0643524965" * 4),
    (0.66, 1.0, (RECURSIVE,), "03001110", "3321564462 3316048036 2899546106 2864628469" + " 1797626152" * 4),
]


def places(digits: str) -> tuple[float, ...]:
    """Decimals cut at ten places; a bare 1 is one."""
    return tuple(1.0 if part == "1" else float("0." + part) for part in digits.split())


OPTIMA += [
    search(UL, europa(loss(gs, "rank"), *requirements), limit, places(parts), digits)
    for gs, limit, requirements, digits, parts in RANKS
]

FOUND: list[Figure] = [
    search(EL, adult(ENTROPY, diversity(5, "grassberger")), 0.04, 216092.124036387, "10103220"),
    search(EL, adult(ENTROPY, diversity(5, "grassberger")), 0.0, 324620.5269918692, "11113221"),
    search(EL, adult(ENTROPY, diversity(3, "grassberger")), 0.05, 180347.4325366015, "00112220"),
    search(EL, cup(DM_STAR, diversity(5, "grassberger", GIFT)), 0.04, 1833435.0, "4010131"),
    search(EL, cup(DM_STAR, diversity(100, "grassberger", GIFT)), 0.03, 45168281.0, "4400131"),
    search(RB, adult_wide(loss(), ("SampleUniqueness", 0.01)), 0.04, 0.1606952725863784, "030011110"),
    search(HE, fars_wide(loss(), k(5)), 0.5, 0.15285378029058072, "30110010"),
    search(HE, fars_wide(DM, k(100)), 0.04, 186964793.0, "12331212"),
    search(HE, cup_wide(loss(), k(5)), 0.04, 0.16168926109132675, "43000122"),
    search(HE, cup_wide(ENTROPY, k(100)), 1.0, 1994002.8308631124, "34110444"),
    search(
        RB, adult_wide(ENTROPY, ("PopulationUniqueness", 1e-4, "dankar", "USA")), 0.04, 144298.1603344462, "001112100"
    ),
    search(
        RB, adult_wide(loss(), ("PopulationUniqueness", 1e-4, "zayatz", "USA")), 0.04, 0.16078200456326086, "030011110"
    ),
    search(
        RB, adult_wide(ENTROPY, ("PopulationUniqueness", 1e-4, "pitman", "USA")), 0.04, 144298.1603344462, "001112100"
    ),
    search(
        RB, adult_wide(loss(), ("PopulationUniqueness", 1e-4, "snb", "USA")), 0.04, 0.17599055898432758, "030021110"
    ),
    search(KM, adult(ENTROPY, ("KMap", 3, 0.01, "USA", "truncated_poisson")), 0.05, 130804.5332092598, "00110220"),
    search(KM, adult(ENTROPY, ("KMap", 1000, 0.01, "USA", "truncated_poisson")), 0.05, 151894.1394841501, "00111210"),
]

NODES: list[Figure] = [
    search(UM, asked, limit, score, digits)
    for asked, limit, scores in [
        (
            adult(AECS, k(5)),
            0.05,
            {
                "00000000": 29.113899613899616,
                "01100000": 30.683621566632755,
                "01121001": 63.76744186046512,
                "04101001": 97.6116504854369,
                "14102010": 160.43617021276594,
                "13022020": 150.81,
                "03103211": 363.3975903614458,
                "11023221": 520.0344827586207,
                "14123221": 30162.0,
            },
        ),
        (
            cup(AECS, k(5)),
            0.05,
            {
                "0000000": 63441.0,
                "3210031": 24.24188001528468,
                "1211041": 18.177936962750717,
                "5401020": 51.78857142857143,
                "4112130": 55.74780316344464,
                "0201144": 615.9320388349514,
                "5311004": 20.937623762376237,
            },
        ),
        (
            fars(AECS, k(5)),
            0.05,
            {
                "0000000": 122.34787878787878,
                "0101011": 33.985521885521884,
                "0230110": 32.83571893298634,
                "2120011": 53.604354753053634,
                "1103111": 118.74941176470588,
                "4000022": 45.121591417076445,
                "4202111": 355.4119718309859,
                "0233102": 208.11752577319587,
                "4020122": 171.95400340715503,
                "5233122": 100937.0,
            },
        ),
        (
            fars(ENTROPY, k(5)),
            0.05,
            {
                "0000000": 805526.2618565465,
                "1210000": 696176.3879723677,
                "2003000": 682336.4039584913,
                "3010020": 751011.6298107738,
                "1110012": 927455.5811200172,
                "1022011": 755224.4599748307,
                "3020002": 890430.8923091795,
                "4010021": 862746.9598747758,
                "4201101": 1000571.2210988334,
                "5233122": 1828114.5308318876,
            },
        ),
        (
            adult(ENTROPY, k(5)),
            0.05,
            {
                "00000000": 268778.22471939825,
                "03100001": 225818.85565423348,
                "13012001": 275372.98294157453,
                "04023000": 321182.9796059437,
                "11103211": 282532.98778791947,
                "14123221": 455884.9365769584,
            },
        ),
        (adult(ENTROPY, TREE), 0.0, {"00000000": 449310.02427120315, "04123221": 428467.2965004933}),
        (adult(ENTROPY, RECURSIVE), 0.0, {"00000000": 335625.27531107684, "00013221": 221461.3561338566}),
        (
            cup(ENTROPY, k(5)),
            0.05,
            {
                "0000000": 2207518.9993976387,
                "5411000": 1591484.6764819187,
                "5401100": 1634141.3783607204,
                "4210140": 1569890.387870711,
                "5411004": 1598585.7115628633,
                "5412144": 2207518.9993976974,
            },
        ),
        (adult(DM_STAR, RECURSIVE), 0.05, {"00000000": 485542.0}),
        (
            adult(PRECISION, k(5)),
            0.05,
            {
                "00000000": 0.5090179696306611,
                "01000010": 0.30136844373715277,
                "10012000": 0.4293488771743695,
                "01003000": 0.27206211458126117,
                "03000210": 0.34258752735229764,
                "04021000": 0.3254370841898194,
                "14021010": 0.4917894757200008,
                "14123221": 1.0,
            },
        ),
        (
            adult(loss(0.5, "rank"), RECURSIVE),
            0.05,
            {
                "00000000": places("665274186" + " 665274186" * 7),
                "10100000": places("1 1" + " 5243684105" * 6),
                "11000220": places("1 1 1 2377190109" + " 2056229692" * 4),
            },
        ),
    ]
    for digits, score in scores.items()
]
