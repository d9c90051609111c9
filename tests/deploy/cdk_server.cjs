// Runs the CDK's command line as often as it is asked to; see `lasting.py`.

const net = require("node:net");
const path = require("node:path");

const { exec } = require(path.join(__dirname, "../../node_modules/aws-cdk/lib/index.js"));

async function run(asked, print) {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, asked.environment);
  process.chdir(asked.folder);
  process.stdout.write = process.stderr.write = print;
  try {
    return (await exec(asked.arguments)) ?? 0;
  } catch (error) {
    print(`❌  ${error.message}\n`);
    return 1;
  }
}

function answer(connection) {
  const pieces = [];
  connection.on("data", (piece) => pieces.push(piece));
  connection.on("end", async () => {
    const print = (piece, encoding, done = encoding) => {
      connection.write(piece);
      if (typeof done === "function") done();
      return true;
    };
    const status = await run(JSON.parse(Buffer.concat(pieces)), print);
    connection.end(`\0${status}`);
  });
}

net.createServer({ allowHalfOpen: true }, answer).listen(process.argv[2]);
process.stdin.on("end", () => process.exit()).resume();
