"""What does not change with the seed: regions, countries, products, services, teams and segments."""

from datetime import date
from typing import NamedTuple


class Region(NamedTuple):
    """A sales region; ``share`` is its part of the customers, ``distributor`` of its orders by resale."""

    code: str
    name: str
    lead: str | None
    share: float
    distributor: float


class Country(NamedTuple):
    """A country; ``share`` is its part of the region's customers, ``legal_form`` ends company names."""

    code: str
    name: str
    region_code: str
    share: float
    legal_form: str


class Segment(NamedTuple):
    """A customer segment; rates are per customer and month, ``units`` the usual (least, most) a line."""

    code: str
    share: float
    orders: float
    churn: float
    tickets: float
    units: tuple[int, int]


class Product(NamedTuple):
    """A product; prices and cost in cents, ``weight`` its part of the lines, ``tickets`` of the tickets."""

    product_id: int
    name: str
    family: str
    price_before: int
    unit_cost: int
    launched_on: date
    weight: float
    tickets: float

    @property
    def price(self) -> int:
        """List price in cents since the rise of 6 % on 2025-04-01; old prices are multiples of 50 cents."""
        return self.price_before * 106 // 100


class Service(NamedTuple):
    """A cloud service; ``cycle`` is the days between releases, ``incidents`` the usual number a month."""

    service_id: int
    name: str
    team: str
    tier: int
    launched_on: date
    cycle: int
    incidents: float


REGIONS = (
    Region("NOR", "Nordics", "Ingrid Solbakken", 0.22, 0.20),
    Region("DAC", "DACH", "Matthias Oberhuber", 0.30, 0.25),
    Region("UKI", "UK and Ireland", "Fiona Carmody", 0.22, 0.15),
    Region("IBE", "Iberia", None, 0.12, 0.45),
    Region("BNL", "Benelux", "Joost Verhagen", 0.14, 0.20),
)

COUNTRIES = (
    Country("SE", "Sweden", "NOR", 0.40, "AB"),
    Country("NO", "Norway", "NOR", 0.25, "AS"),
    Country("DK", "Denmark", "NOR", 0.20, "ApS"),
    Country("FI", "Finland", "NOR", 0.15, "Oy"),
    Country("DE", "Germany", "DAC", 0.70, "GmbH"),
    Country("AT", "Austria", "DAC", 0.16, "GesmbH"),
    Country("CH", "Switzerland", "DAC", 0.14, "AG"),
    Country("GB", "United Kingdom", "UKI", 0.82, "Ltd"),
    Country("IE", "Ireland", "UKI", 0.18, "Ltd"),
    Country("ES", "Spain", "IBE", 0.72, "SL"),
    Country("PT", "Portugal", "IBE", 0.28, "Lda"),
    Country("BE", "Belgium", "BNL", 0.36, "BV"),
    Country("NL", "Netherlands", "BNL", 0.56, "B.V."),
    Country("LU", "Luxembourg", "BNL", 0.08, "Sarl"),
)

SEGMENTS = (
    Segment("smb", 0.62, 0.34, 0.013, 0.22, (1, 3)),
    Segment("mid_market", 0.28, 0.80, 0.0075, 0.34, (2, 8)),
    Segment("enterprise", 0.10, 2.00, 0.0035, 0.85, (4, 18)),
)

PRODUCTS = (
    Product(1, "Halo Gateway", "Gateways", 40000, 24600, date(2021, 3, 1), 0.120, 0.130),
    Product(2, "Halo Gateway Mini", "Gateways", 23000, 14300, date(2022, 5, 16), 0.100, 0.085),
    Product(3, "Pulse Meter S", "Meters", 9000, 5500, date(2019, 9, 2), 0.140, 0.095),
    Product(4, "Pulse Meter L", "Meters", 16000, 9700, date(2019, 9, 2), 0.105, 0.075),
    Product(5, "Flow Meter", "Meters", 20500, 12600, date(2020, 10, 5), 0.075, 0.070),
    Product(6, "Reed Sensor", "Sensors", 3600, 2100, date(2018, 4, 3), 0.095, 0.060),
    Product(7, "Drift Sensor", "Sensors", 5000, 2850, date(2022, 2, 7), 0.075, 0.055),
    Product(8, "Cloud Basic", "Subscriptions", 6000, 1450, date(2020, 1, 13), 0.090, 0.075),
    Product(9, "Cloud Plus", "Subscriptions", 14400, 3200, date(2021, 6, 1), 0.060, 0.100),
    Product(10, "Fleet Analytics", "Subscriptions", 30000, 7800, date(2022, 11, 21), 0.020, 0.060),
    Product(11, "Installation", "Services", 34000, 21800, date(2018, 4, 3), 0.060, 0.055),
    Product(12, "Calibration", "Services", 17000, 9900, date(2019, 1, 7), 0.060, 0.040),
)
FAMILIES = ("Gateways", "Meters", "Sensors", "Subscriptions", "Services")
CLOUD_PLUS = 9
CALIBRATION = 12

SERVICES = (
    Service(1, "ingest-gateway", "Devices", 1, date(2019, 2, 4), 14, 1.2),
    Service(2, "device-registry", "Devices", 1, date(2019, 2, 4), 14, 0.9),
    Service(3, "billing-api", "Billing", 1, date(2020, 1, 13), 14, 1.5),
    Service(4, "metering-store", "Data", 1, date(2019, 2, 4), 14, 1.3),
    Service(5, "alert-router", "Platform", 2, date(2020, 6, 8), 14, 0.8),
    Service(6, "customer-portal", "Platform", 2, date(2020, 9, 14), 7, 1.4),
    Service(7, "fleet-analytics", "Data", 2, date(2022, 11, 21), 14, 1.0),
    Service(8, "identity-broker", "Security", 1, date(2021, 3, 22), 28, 0.5),
    Service(9, "report-builder", "Data", 3, date(2021, 10, 11), 14, 0.7),
    Service(10, "firmware-depot", "Devices", 2, date(2020, 4, 27), 28, 0.6),
)

# Employees of each team at the end of 2023-07 and of 2025-12; in between they grow in even steps.
TEAMS = (
    ("Platform", 24, 29),
    ("Billing", 11, 13),
    ("Devices", 31, 36),
    ("Data", 17, 22),
    ("Customer Care", 47, 54),
    ("Security", 8, 10),
)
