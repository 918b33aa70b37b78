import { equal, test } from "./check.js";
import { ANYWAY, money, worth } from "/static/money.js";

test("a sign stands before an amount and the name of a currency after it", () => {
  equal([money(1234.5, "£"), money(1234.5, "EUR"), money(1234.5), money(1234.5, "£", 0), money(null, "£")], ["£1,234.50", "1,234.50 EUR", "1,234.50", "£1,235", "–"]);
});

test("what a rule is worth has both ends and says that no offer is meant", () => {
  const rule = { revenue: 1234, expected_baskets: 12.4, expected_baskets_low: 7.6, expected_baskets_high: 18, expected_revenue: 340, expected_revenue_low: 210.2, expected_revenue_high: 480 };
  equal(worth(rule, "£"), `Its products brought in £1,234 in the baskets that held all of them. Of the next period 12 baskets (7.6 to 18) with £340 (£210 to £480) are to be expected. ${ANYWAY}`);
  equal(worth({ revenue: null, expected_revenue: null, expected_baskets: 3 }), null);
  equal(worth({ revenue: 5, expected_revenue: null }), `Its products brought in 5.00 in the baskets that held all of them. ${ANYWAY}`);
});
