// What the CDK's command line does for seconds and shows nothing of, with an emulator that takes a
// moment, is left out.

// It looks every five seconds whether a stack is made, as AWS takes minutes for one. Of its waits
// those between two looks are a twentieth here.
const later = globalThis.setTimeout;
const looksAgain = () => /\n +at waitFor /.test(new Error().stack);

function sooner(done, milliseconds, ...more) {
  return later(done, milliseconds === 5000 && looksAgain() ? 250 : milliseconds, ...more);
}

globalThis.setTimeout = Object.defineProperties(sooner, Object.getOwnPropertyDescriptors(later));

// It writes every call down for a log that nobody asked for, an upload's megabytes as numbers.
Buffer.prototype.toJSON = function () {
  return { type: "Buffer", length: this.length };
};

// It reads and parses the metadata of all constructs twice for every event of a stack.
const fs = require("node:fs");
const { readFileSync } = fs;
const { parse } = JSON;
const read = new Map();
const parsed = new Map();

fs.readFileSync = function (path, ...more) {
  if (!String(path).endsWith(".metadata.json")) return readFileSync(path, ...more);
  const written = `${path} ${fs.statSync(path).mtimeMs}`;
  if (!read.has(written)) read.set(written, readFileSync(path, ...more));
  parsed.set(read.get(written), parsed.get(read.get(written)));
  return read.get(written);
};

JSON.parse = function (given, ...more) {
  if (!parsed.has(given)) return parse(given, ...more);
  if (!parsed.get(given)) parsed.set(given, Object.entries(parse(given)));
  // Whoever asks adds to these lists, and changes nothing in them.
  return Object.fromEntries(parsed.get(given).map(([path, listed]) => [path, [...listed]]));
};
