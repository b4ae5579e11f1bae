"""Every story of sample/STORY.md shows in the rows with its magnitude, whatever the seed."""

from collections import Counter
from datetime import date
from statistics import mean, median

import pytest

from sample.warehouse.catalog import CALIBRATION, PRODUCTS, REGIONS, SERVICES
from sample.warehouse.customers import FLEET_CUSTOMER, Customer
from sample.warehouse.generate import Business, build_business
from sample.warehouse.margins import Margin
from sample.warehouse.tickets import Ticket

HALO = next(product.product_id for product in PRODUCTS if product.name == "Halo Gateway")


@pytest.fixture(scope="module", params=[7, 11])
def business(request: pytest.FixtureRequest) -> Business:
    return build_business(request.param)


def months(first: tuple[int, int], count: int) -> list[date]:
    start = first[0] * 12 + first[1] - 1
    return [date(number // 12, number % 12 + 1, 1) for number in range(start, start + count)]


def month_of(day: date) -> date:
    return date(day.year, day.month, 1)


def margin_rate(business: Business, region: str, chosen: list[date]) -> float:
    rows = [row for row in business.margins if row.region_code == region and row.month in chosen]
    return 100 * sum(row.net for row in rows) / sum(row.revenue for row in rows)


def churned(business: Business, region: str, segment: str) -> Counter[date]:
    return Counter(
        month_of(c.churned_on)
        for c in business.customers
        if c.churned_on is not None and c.region_code == region and c.segment == segment
    )


def share(rows: list[Margin], family: str) -> float:
    return sum(r.revenue for r in rows if r.family == family) / sum(r.revenue for r in rows)


def test_s1_strike_costs_the_nordics_six_points_of_margin(business: Business) -> None:
    before = margin_rate(business, "NOR", months((2025, 4), 3))
    strike = margin_rate(business, "NOR", months((2025, 7), 3))
    after = margin_rate(business, "NOR", months((2025, 10), 3))
    assert 5.2 <= before - strike <= 7.5
    assert after >= before
    for region in ("DAC", "UKI", "IBE", "BNL"):
        change = margin_rate(business, region, months((2025, 7), 3)) - margin_rate(
            business, region, months((2025, 4), 3)
        )
        assert abs(change) < 2


def test_s1_freight_rises_on_gateways_and_meters_only(business: Business) -> None:
    def rate(family: str, chosen: list[date]) -> float:
        rows = [r for r in business.margins if r.region_code == "NOR" and r.family == family and r.month in chosen]
        return sum(r.freight for r in rows) / sum(r.revenue for r in rows)

    for family, factor in (("Gateways", 3.0), ("Meters", 3.0), ("Sensors", 0.9)):
        times = rate(family, months((2025, 7), 3)) / rate(family, months((2025, 4), 3))
        assert times >= factor if factor > 1 else times < 1.1


def halo_tickets(business: Business) -> list[Ticket]:
    return [t for t in business.tickets if t.product_id == HALO]


def test_s2_firmware_triples_halo_gateway_tickets_in_every_region(business: Business) -> None:
    region = {c.customer_id: c.region_code for c in business.customers}
    usual, trouble = months((2025, 8), 3), months((2025, 11), 3)
    tickets = halo_tickets(business)
    everywhere = Counter(month_of(t.opened_at) for t in tickets)
    times = sum(everywhere[m] for m in trouble) / sum(everywhere[m] for m in usual)
    assert 2.6 <= times <= 3.6
    later = months((2026, 2), 5)
    assert mean(everywhere[m] for m in later) < 1.3 * mean(everywhere[m] for m in usual)
    for one in REGIONS:
        counts = Counter(month_of(t.opened_at) for t in tickets if region[t.customer_id] == one.code)
        assert sum(counts[m] for m in trouble) > 2 * sum(counts[m] for m in usual), one.code


def test_s2_the_tickets_are_about_the_battery(business: Business) -> None:
    battery = Counter(month_of(t.opened_at) for t in halo_tickets(business) if t.category == "battery")
    assert battery[date(2025, 12, 1)] > 8 * battery[date(2025, 10, 1)]


def test_s3_dach_mid_market_churn_triples(business: Business) -> None:
    counts = churned(business, "DAC", "mid_market")
    usual = sum(counts[m] for m in months((2025, 1), 12)) / 4
    trouble = sum(counts[m] for m in months((2026, 1), 3))
    assert 2.5 <= trouble / usual <= 3.5
    assert sum(counts[m] for m in months((2026, 4), 3)) < 1.5 * usual
    others = [churned(business, region.code, "mid_market") for region in REGIONS if region.code != "DAC"]
    before = sum(c[m] for c in others for m in months((2025, 10), 3))
    assert sum(c[m] for c in others for m in months((2026, 1), 3)) < 1.6 * before


def test_s4_iberia_loses_a_fifth_of_its_orders_through_distributors(business: Business) -> None:
    orders = [o for o in business.orders if o.customer.region_code == "IBE"]
    before = [o for o in orders if month_of(o.order_date) in months((2025, 1), 3)]
    fall = [o for o in orders if month_of(o.order_date) in months((2025, 4), 3)]
    assert 0.75 <= len(fall) / len(before) <= 0.85
    after = [o for o in orders if month_of(o.order_date) in months((2025, 9), 3)]
    assert len(after) > len(before)
    distributors = [sum(o.channel == "distributor" for o in part) for part in (before, fall)]
    assert distributors[1] < 0.6 * distributors[0]
    assert len(fall) - distributors[1] > 0.9 * (len(before) - distributors[0])


def test_s4_list_prices_rise_by_six_percent(business: Business) -> None:
    for product in PRODUCTS:
        assert product.price * 100 == product.price_before * 106
        prices = {
            (o.order_date >= date(2025, 4, 1), line.unit_price)
            for o in business.orders
            for line in o.lines
            if line.product_id == product.product_id
        }
        assert prices == {(False, product.price_before), (True, product.price)}


def test_s5_small_business_churn_in_uk_and_ireland_doubles(business: Business) -> None:
    counts = churned(business, "UKI", "smb")
    usual = sum(counts[m] for m in months((2025, 2), 5))
    rivalled = sum(counts[m] for m in months((2026, 2), 5))
    assert 1.8 <= rivalled / usual <= 2.3

    def lost(customer: Customer) -> bool:
        return customer.churned_on is not None and customer.churned_on >= date(2026, 2, 1)

    rivals = Counter(c.region_code for c in business.customers if lost(c) and c.competitor == "Brightmesh")
    assert rivals.most_common(1)[0][0] == "UKI"


def test_s6_billing_api_doubles_deployments_and_quadruples_incidents(business: Business) -> None:
    service = next(s for s in SERVICES if s.name == "billing-api")
    deployments = Counter(month_of(d.deployed_at) for d in business.deployments if d.service is service)
    incidents = Counter(month_of(i.started_at) for i in business.incidents if i.service_id == service.service_id)
    usual, weekly = months((2025, 12), 3), months((2026, 3), 3)
    assert 1.8 <= sum(deployments[m] for m in weekly) / sum(deployments[m] for m in usual) <= 2.4
    year = sum(incidents[m] for m in months((2025, 3), 12)) / 4
    assert 3.3 <= sum(incidents[m] for m in weekly) / year <= 5
    assert incidents[date(2026, 6, 1)] <= 3
    pool = [i for i in business.incidents if i.title.startswith("Connection pool exhausted")]
    assert len(pool) == sum(incidents[m] for m in weekly)
    assert all(i.deployment_id is not None for i in pool)


def test_s7_customer_care_shrinks_and_answers_more_slowly(business: Business) -> None:
    people = {(h.month, h.team): h.employees for h in business.headcount}
    december, june = date(2025, 12, 1), date(2026, 6, 1)
    assert 0.83 <= people[june, "Customer Care"] / people[december, "Customer Care"] <= 0.87
    assert people[june, "Security"] > people[december, "Security"]
    frozen = [h for h in business.headcount if h.month > december and h.open_positions is not None]
    assert {h.team for h in frozen} == {"Security"}

    def response(chosen: list[date]) -> float:
        return median(
            t.first_response
            for t in business.tickets
            if t.first_response is not None and month_of(t.opened_at) in chosen
        )

    usual, first, second = (response(months(start, 3)) for start in ((2025, 7), (2026, 1), (2026, 4)))
    assert 1.1 < first / usual < second / usual
    assert second / usual > 1.3


def test_s8_subscription_share_rises_in_every_quarter(business: Business) -> None:
    shares = [
        share([r for r in business.margins if r.month in months(start, 3)], "Subscriptions")
        for start in ((2024, 4), (2024, 10), (2025, 1), (2025, 4), (2025, 7), (2025, 10), (2026, 1), (2026, 4))
    ]
    assert shares == sorted(shares)
    assert shares[-1] > 2 * shares[0]
    gateways = [o for o in business.orders if any(PRODUCTS[x.product_id - 1].family == "Gateways" for x in o.lines)]
    bundled = [any(x.product_id == 9 for x in o.lines) for o in gateways if o.order_date >= date(2024, 9, 1)]
    assert all(bundled[:-1])


def test_s9_calibration_orders_jump_by_half(business: Business) -> None:
    counts = Counter(
        month_of(o.order_date) for o in business.orders if any(x.product_id == CALIBRATION for x in o.lines)
    )
    before, jump, year_ago = (sum(counts[m] for m in months(start, 3)) for start in ((2025, 7), (2025, 10), (2024, 10)))
    assert 1.35 <= jump / before <= 1.7
    assert 1.35 <= jump / year_ago <= 1.75


def test_s10_waalhaven_places_an_eighth_of_benelux_revenue_in_one_order(business: Business) -> None:
    quarter = [
        o for o in business.orders if o.customer.region_code == "BNL" and month_of(o.order_date) in months((2026, 4), 3)
    ]
    fleet = [o for o in quarter if o.customer.name == FLEET_CUSTOMER]
    assert len(fleet) == 1
    assert month_of(fleet[0].order_date) == date(2026, 5, 1)
    assert fleet[0].customer.segment == "enterprise"
    assert fleet[0].total / sum(o.total for o in quarter) == pytest.approx(0.12, abs=0.003)
    assert fleet[0].customer.churned_on is None
