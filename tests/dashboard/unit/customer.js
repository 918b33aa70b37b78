import { equal, test } from "./check.js";
import { beside, days, summary, why } from "/static/customer.js";
import { shares } from "/static/basket.js";
import { learn } from "/static/names.js";

const known = new Map(Object.entries({
  milk: { count: 12, every: 6.8, last: "2010-05-03", due: true },
  tea: { count: 2, every: 30, last: "2010-05-20", due: false },
  cup: { count: 1, every: null, last: "2010-01-20", due: false },
}));

test("a customer is told by visits and by what the next basket will hold", () => {
  equal(summary({ visits: 12, last: "2010-05-03", expected_size: 18.4 }), "12 visits, the last of them on 3 May 2010. The next basket is expected to hold about 18 products.");
  equal(summary({ visits: 1, last: "2010-05-03", expected_size: 2.52 }), "1 visit, the last on 3 May 2010. The next basket is expected to hold about 2.5 products.");
  equal(summary({ visits: 0, last: null, expected_size: null }), "No visit yet.");
});

test("what was bought before is suggested by the customer’s own rhythm", () => {
  equal(why({ product: "milk" }, known), "Bought 12 times, about every 7 days, last on 3 May 2010: due again.");
  equal(why({ product: "tea" }, known), "Bought twice, about every 30 days, last on 20 May 2010.");
  equal(why({ product: "cup" }, known), "Bought once, last on 20 Jan 2010.");
});

test("what is new is suggested by what they buy, or by others like them", () => {
  learn("22", "saucer");
  equal(why({ product: "spoon", reasons: [{ because: "customer", share: 0.5 }, { because: "22", share: 0.3 }, { because: "milk", share: 0.2 }] }, known), "Goes with saucer and milk, which they buy.");
  equal(why({ product: "spoon", reasons: [{ because: "customer", share: 1 }] }, known), "Bought by others whose baskets are like theirs.");
});

test("what is new is suggested with what they buy that goes best with it", () => {
  const pair = (left, right, lift) => ({ antecedents: [left], consequents: [right], lift });
  const page = { id: "spoon", observed: [pair("spoon", "fork", 9), pair("tea", "spoon", 0.8), pair("milk", "spoon", 4), pair("spoon", "cup", 3)] };
  equal([beside(page, known), beside(page, new Map())], ["milk", null]);
  equal(why({ product: "spoon", beside: "milk", count: 0 }, known), "Goes with milk, which they buy.");
});

test("where baskets have no dates, days are numbered", () => {
  equal(why({ product: "jam", count: 3, every: 2, last: 41, due: false }, known), "Bought 3 times, about every 2 days, last on day 41.");
});

test("the service’s own reason comes before ours", () => {
  equal(why({ product: "milk", why: "They always do." }, known), "They always do.");
});

test("days are told as one would say them", () => {
  equal([0.5, 1, 1.4, 6.8, 14.2].map(days), ["day", "day", "1.4 days", "7 days", "14 days"]);
});

test("the bar of a suggestion is as long as its chance beside the highest", () => {
  equal(shares([{ chance: 0.4, score: 9 }, { chance: 0.1, score: 99 }]), [1, 0.25]);
  equal(shares([{ score: 2 }, { score: 0 }, { score: -2 }]), [1, 0.5, 0]);
});
