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

/** Runs in the page: words that stand on other words, outside of drawings. */
export function overlaps() {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const boxes = [];
  for (let node = walker.nextNode(); node && boxes.length < 4000; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || parent.closest("svg, script, style") || !parent.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    // What scrolls within its own frame is not on what stands beside that.
    const frame = parent.closest(".wide")?.getBoundingClientRect();
    for (const box of range.getClientRects())
      if (!frame || (box.right <= frame.right + 1 && box.left >= frame.left - 1))
        boxes.push({ text: node.data, box });
  }
  boxes.sort((one, other) => one.box.top - other.box.top);
  const shown = (text) => JSON.stringify(text.trim().slice(0, 40));
  const found = [];
  for (const [at, one] of boxes.entries())
    for (let next = at + 1; next < boxes.length; next++) {
      const other = boxes[next];
      const down = one.box.bottom - other.box.top;
      if (down <= 0) break;
      const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const least = Math.min(one.box.height, other.box.height) / 2;
      if (across > 2 && Math.min(down, other.box.height) > least)
        found.push(`words stand on others: ${shown(one.text)}, ${shown(other.text)}`);
    }
  return found.slice(0, 3);
}

/** Runs in the page: what a reader does with a table, and what the script makes of it. */
export function operated() {
  const found = [];
  const rows = (table) => [...table.tBodies[0].rows];
  for (const table of document.querySelectorAll("table")) {
    const before = rows(table);
    const button = table.querySelector("thead button");
    const named = Boolean(table.tHead.rows[0].cells[0].textContent);
    if ((before.length > 3 && named) !== Boolean(button)) found.push(`a table of ${before.length} rows has other buttons`);
    if (!button) continue;
    const column = [...table.tHead.rows[0].cells].indexOf(button.closest("th"));
    const words = () => rows(table).map((row) => row.cells[column].textContent);
    const sorted = words().sort((one, other) => one.localeCompare(other));
    const shown = [button, button, button].map((each) => (each.click(), words().join()));
    const wanted = [sorted, [...sorted].reverse(), before.map((row) => row.cells[column].textContent)];
    if (shown.some((each, at) => each !== wanted[at].join())) found.push("a click does not sort a table");
  }
  const field = document.querySelector("input[type=search]");
  if (field) {
    const items = () => [...document.querySelectorAll("main tr, main article")].filter((each) => each.hidden);
    field.value = "no row has these words";
    field.dispatchEvent(new Event("input"));
    if (!items().length || !field.closest(".tool").textContent.includes("0 of ")) found.push("a filter hides nothing");
    field.value = "";
    field.dispatchEvent(new Event("input"));
    if (items().length) found.push("an empty filter hides something");
  }
  return [...new Set(found)];
}

/** Runs in the page: the words of its main part, without those that the script adds. */
export function words() {
  const tools = ".tool { display: none }";
  document.head.append(Object.assign(document.createElement("style"), { textContent: tools }));
  return document.querySelector("main")?.innerText.replace(/\s+/g, " ").trim() ?? "";
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
    ...(await page.evaluate(overlaps)),
    ...(await page.evaluate(scheme, view.scheme)),
    ...(await page.evaluate(scripts)),
  ];
  const took = await page.evaluate(times, LONGEST);
  for (const [what, ms] of Object.entries(took))
    if (ms > LONGEST) findings.push(`${what} took longer than ${LONGEST} ms`);
  return { findings: [...findings, ...(await axe(page, source))], took };
}
