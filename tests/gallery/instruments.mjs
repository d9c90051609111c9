// What is measured of a page that is open in a browser. Each returns sentences, of which none is good.

/** Pixels below which the words of a drawing are not read on a phone. */
const SMALLEST = 9;

/** Milliseconds within which a page has to be there: issue 14. */
const LONGEST = 2000;

/** Runs in the page: what its layout does to a reader. */
export function layout(smallest) {
  const found = [];
  const shown = (text) => JSON.stringify(text.trim().slice(0, 40));
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth)
    found.push(`the page is ${root.scrollWidth - root.clientWidth} px wider than the screen`);
  const tiny = [];
  for (const drawing of document.querySelectorAll("svg")) {
    const frame = drawing.getBoundingClientRect();
    const words = [...drawing.querySelectorAll("text")].map((text) => ({
      text: text.textContent,
      box: text.getBoundingClientRect(),
      size: parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a,
    }));
    tiny.push(...words.filter(({ size }) => size < smallest));
    const cut = words.find(({ box }) => box.left < frame.left - 1 || box.right > frame.right + 1);
    if (cut) found.push(`words leave their drawing: ${shown(cut.text)}`);
    for (const [at, one] of words.entries())
      for (const other of words.slice(at + 1)) {
        const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        if (across > 1 && down > 3)
          found.push(`words of a drawing overlap: ${shown(one.text)}, ${shown(other.text)}`);
      }
  }
  if (tiny.length) {
    const { text, size } = tiny.reduce((one, other) => (one.size < other.size ? one : other));
    found.push(`${tiny.length} words of drawings are under ${smallest} px, such as ${shown(text)} of ${size.toFixed(1)}`);
  }
  for (const element of document.querySelectorAll("body *"))
    if (!element.closest("svg") && /hidden|clip/.test(getComputedStyle(element).overflowX))
      if (element.scrollWidth > element.clientWidth + 1)
        found.push(`words are cut off: ${shown(element.textContent)}`);
  return [...new Set(found)];
}

/** Runs in the page: whether it follows the reader's light or dark. */
export function scheme(wanted) {
  const ground = [document.body, document.documentElement]
    .map((element) => getComputedStyle(element).backgroundColor)
    .find((color) => !/, 0\)$|transparent/.test(color));
  const [red, green, blue] = (ground ?? "rgb(255, 255, 255)").match(/[\d.]+/g).map(Number);
  const light = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 128;
  return light === (wanted === "light") ? [] : [`the page is not ${wanted}`];
}

/** Runs in the page: what could run in it beside the script that its policy names by its hash. */
export async function scripts() {
  const policy = document.querySelector("meta[http-equiv=Content-Security-Policy]")?.content ?? "";
  const allowed = async ({ textContent, src }) => {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(textContent));
    const hash = btoa(String.fromCharCode(...new Uint8Array(digest)));
    return !src && policy.includes(`'sha256-${hash}'`);
  };
  const known = await Promise.all([...document.scripts].map(allowed));
  const handlers = [...document.querySelectorAll("*")].filter((element) =>
    element.getAttributeNames().some((name) => name.startsWith("on")),
  );
  return [
    ...(known.includes(false) || known.length > 1 ? ["there is a script"] : []),
    ...(handlers.length ? ["an element handles an event"] : []),
  ];
}

/** Runs in the page: milliseconds from the navigation to the first paint, and to the end of loading. */
export async function times(longest) {
  const painted = new Promise((done) => {
    const seen = (list) => list.getEntriesByName("first-contentful-paint").forEach(done);
    new PerformanceObserver(seen).observe({ type: "paint", buffered: true });
    setTimeout(() => done({ startTime: longest + 1 }), longest);
  });
  const [navigation] = performance.getEntriesByType("navigation");
  return { paint: Math.round((await painted).startTime), load: Math.round(navigation.loadEventEnd) };
}

/** What axe finds, by all its rules: WCAG 2.2 A and AA, and its best practices. */
export async function axe(page, source) {
  await page.evaluate(source);
  const { violations } = await page.evaluate(() => axe.run({ resultTypes: ["violations"] }));
  return violations.map(
    ({ id, help, nodes }) => `axe ${id}: ${help} (${nodes.length}, such as ${nodes[0].target})`,
  );
}

/** Everything that can be measured of one view. */
export async function measured(page, view, source) {
  const findings = [
    ...(await page.evaluate(layout, SMALLEST)),
    ...(await page.evaluate(scheme, view.scheme)),
    ...(await page.evaluate(scripts)),
  ];
  const took = await page.evaluate(times, LONGEST);
  for (const [what, ms] of Object.entries(took))
    if (ms > LONGEST) findings.push(`${what} took longer than ${LONGEST} ms`);
  return { findings: [...findings, ...(await axe(page, source))], took };
}
