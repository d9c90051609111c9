// Runs the CDK's command line as often as it is asked to; see `lasting.py`.

const net = require("node:net");
const path = require("node:path");

const { exec } = require(path.join(__dirname, "../../node_modules/aws-cdk/lib/index.js"));

async function run(asked) {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, asked.environment);
  process.chdir(asked.folder);
  try {
    return (await exec(asked.arguments)) ?? 0;
  } catch (error) {
    console.error(error.message);
    return 1;
  }
}

function answer(connection) {
  const pieces = [];
  connection.on("data", (piece) => pieces.push(piece));
  connection.on("end", async () => connection.end(`${await run(JSON.parse(Buffer.concat(pieces)))}`));
}

net.createServer({ allowHalfOpen: true }, answer).listen(process.argv[2]);
process.stdin.on("end", () => process.exit()).resume();
