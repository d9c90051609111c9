// The CDK's command line looks every five seconds whether a stack is made, as AWS takes minutes for one.
// The emulator takes a moment: of its waits those between two looks are a twentieth here.
const later = globalThis.setTimeout;
const looksAgain = () => /\n +at waitFor /.test(new Error().stack);

function sooner(done, milliseconds, ...more) {
  return later(done, milliseconds === 5000 && looksAgain() ? 250 : milliseconds, ...more);
}

globalThis.setTimeout = Object.defineProperties(sooner, Object.getOwnPropertyDescriptors(later));
