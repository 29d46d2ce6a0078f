// Checks the role of the container. A worker answers on METRICS_PORT only.
const { PORT = '8080', METRICS_PORT } = process.env;
const url = METRICS_PORT
  ? `http://127.0.0.1:${METRICS_PORT}/health/live`
  : `http://127.0.0.1:${PORT}/health/live`;
const answer = await fetch(url, { signal: AbortSignal.timeout(8_000) }).catch((error) => error);
if (answer.status !== 200) {
  console.error(answer.status ?? answer.message);
  process.exit(1);
}
