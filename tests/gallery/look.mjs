// Opens pages in a Chromium as readers do, one line of JSON for each view.
//
//     node look.mjs PACKAGES OUT NAME...
//
// OUT/NAME.html is opened; OUT/NAME-VIEW.png and OUT/NAME.pdf are written.
//
// A page whose faults are known comes first: an instrument that does not respond to it measures
// nothing.

import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { started } from "./chromium.mjs";
import { measured, operated, words } from "./instruments.mjs";

const VIEWS = [
  ...[320, 390, 1280, 1920].flatMap((width) =>
    ["light", "dark"].map((scheme) => ({ view: `${width}-${scheme}`, width, scheme, media: "screen" })),
  ),
  // A4 at 96 dots an inch, without its margins.
  { view: "print", width: 718, scheme: "light", media: "print" },
];
const HEIGHT = 900;

/** Pixels of a page that are pictured: of longer ones the beginning. */
const PICTURED = 8000;

/** Milliseconds for one picture: a machine may have other work. */
const PATIENCE = 120_000;

const FAULTS = [
  "wider than the screen",
  "under 9 px",
  "leave their drawing",
  "words of a drawing overlap",
  "words stand on others",
  "cut off",
  "is not dark",
  "there is a script",
  "has other buttons",
  "shows other words",
  "handles an event",
  "axe color-contrast",
  "axe html-has-lang",
  "asks for",
  "Content Security Policy",
];

const [packages, out, ...names] = process.argv.slice(2);
const require = createRequire(join(resolve(packages), "package.json"));
const write = (line) => console.log(JSON.stringify(line));

/** What a page shows without its script is what it shows with it, and the script does what it says. */
async function compared(browser, file) {
  const shown = [];
  const findings = [];
  for (const javaScriptEnabled of [true, false]) {
    const context = await browser.newContext({ javaScriptEnabled });
    const page = await context.newPage();
    try {
      await page.goto(pathToFileURL(file).href, { waitUntil: "load" });
      shown.push(await page.evaluate(words));
      if (javaScriptEnabled) findings.push(...(await page.evaluate(operated)));
    } finally {
      await context.close();
    }
  }
  return [...findings, ...(shown[0] === shown[1] ? [] : ["without its script the page shows other words"])];
}

async function opened(browser, axe, file, view) {
  const context = await browser.newContext({
    viewport: { width: view.width, height: HEIGHT },
    colorScheme: view.scheme,
    deviceScaleFactor: 1,
  });
  const page = await context.newPage();
  const url = pathToFileURL(file).href;
  const asked = [];
  await page.route("**/*", (route) => (route.request().url() === url ? route.continue() : route.abort()));
  page.on("request", (request) => {
    if (request.url() !== url) asked.push(`the page asks for ${request.url().slice(0, 80)}`);
  });
  page.on("console", (message) => {
    if (message.type() === "error") asked.push(`console: ${message.text().slice(0, 160)}`);
  });
  page.on("dialog", (dialog) => {
    asked.push(`a script ran: ${dialog.message().slice(0, 80)}`);
    dialog.dismiss();
  });
  page.on("pageerror", (error) => asked.push(`error: ${String(error).slice(0, 160)}`));
  try {
    await page.emulateMedia({ media: view.media, colorScheme: view.scheme });
    await page.goto(url, { waitUntil: "load" });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const { findings, took } = await measured(page, view, axe);
    const printed = view.media === "print" ? await page.pdf({ format: "A4" }) : null;
    return { findings: [...asked, ...findings], took, printed, picture: await picture(page, view) };
  } finally {
    await context.close();
  }
}

async function picture(page, view) {
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  // The window is as high as the picture: a picture of the whole page would draw all of a long one.
  await page.setViewportSize({ width: view.width, height: Math.min(height, PICTURED) });
  return page.screenshot({ timeout: PATIENCE });
}

async function looked() {
  const browser = await started(require);
  const axe = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");
  try {
    write({ browser: browser.version() });
    await tested(browser, axe);
    for (const name of names) {
      const script = await compared(browser, join(out, `${name}.html`));
      for (const view of VIEWS) {
        const seen = await opened(browser, axe, join(out, `${name}.html`), view);
        if (view === VIEWS[0]) seen.findings.push(...script);
        await writeFile(join(out, `${name}-${view.view}.png`), seen.picture);
        if (seen.printed) await writeFile(join(out, `${name}.pdf`), seen.printed);
        write({ name, view: view.view, findings: seen.findings, ...seen.took });
      }
    }
  } finally {
    await browser.close();
  }
}

/** Throws where an instrument does not respond. */
async function tested(browser, axe) {
  const faulty = fileURLToPath(new URL("faulty.html", import.meta.url));
  const { findings } = await opened(browser, axe, faulty, { width: 390, scheme: "dark", media: "screen" });
  findings.push(...(await compared(browser, faulty)));
  const silent = FAULTS.filter((fault) => !findings.some((finding) => finding.includes(fault)));
  if (silent.length) throw new Error(`faulty.html has faults that nothing found: ${silent.join("; ")}`);
}

looked().catch((error) => {
  console.error(`make pages: ${error.message}`);
  process.exitCode = 2;
});
