// A Chromium that starts: the one of CHROMIUM, the npm package's, or the system's.

import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const HOW = `no Chromium starts here. On Debian, \`apt-get install chromium\`; elsewhere,
\`make pages CHROMIUM=/path/to/chrome\``;

/**
 * The browser and its name; throws where none starts.
 *
 * @param require of the folder with the npm packages.
 */
export async function started(require) {
  const tried = [];
  for (const candidate of process.env.CHROMIUM ? [named] : [packaged, installed]) {
    try {
      const options = await candidate(require);
      if (options) return await require("playwright-core").chromium.launch(options);
    } catch (error) {
      tried.push(String(error).split("\n")[0]);
    }
  }
  throw new Error([HOW, ...tried].join("\n  "));
}

const named = () => ({ executablePath: process.env.CHROMIUM });

const installed = () =>
  existsSync("/usr/bin/chromium") && { executablePath: "/usr/bin/chromium" };

/** The npm package's, unpacked beside it once: its own place would be /tmp, which is everybody's. */
async function packaged(require) {
  const modules = dirname(dirname(require.resolve("axe-core")));
  const place = join(modules, ".chromium");
  if (!existsSync(place)) await unpacked(require, place);
  return {
    executablePath: join(place, "chromium"),
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(place, "al2023", "lib"),
      FONTCONFIG_FILE: join(place, "fonts.conf"),
    },
  };
}

/** Whole or not at all, so that whoever interrupts it may begin again. */
async function unpacked(require, place) {
  const { default: chromium, inflate } = require("@sparticuz/chromium");
  const partial = `${place}.${process.pid}`;
  const before = process.env.TMPDIR;
  await mkdir(partial, { recursive: true });
  process.env.TMPDIR = partial;
  try {
    await chromium.executablePath();
    await inflate(join(dirname(dirname(require.resolve("@sparticuz/chromium"))), "bin", "al2023.tar.br"));
    await writeFile(join(partial, "fonts.conf"), fonts(place));
    await rename(partial, place);
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    await rm(partial, { recursive: true, force: true });
  }
}

/** The system's fonts, and one that is there where the system has none. */
const fonts = (place) => `<?xml version="1.0"?>
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${place}/fonts</dir>
  <cachedir>${place}/cache</cachedir>
</fontconfig>
`;
