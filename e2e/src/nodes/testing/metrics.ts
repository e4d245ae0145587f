/** Reads counters from the text that a manager serves. */

/** The sum over all series of a counter whose labels, as text such as `method="PUT"`, contain one of `labels`. */
export function sumOf(text: string, counter: string, labels: readonly string[]): number {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${counter}{`) && labels.some((part) => line.includes(part)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** Requests that change something. Requests for the Lease are among them. */
export function writesIn(text: string): number {
  const methods = ['POST', 'PUT', 'PATCH', 'DELETE'].map((method) => `method="${method}"`);
  return sumOf(text, 'rest_client_requests_total', methods);
}

/** Passes that a controller has made, however they ended. */
export function passesIn(text: string, controller: 'inferenceservice' | 'inferencereplica'): number {
  return sumOf(text, 'controller_runtime_reconcile_total', [`controller="${controller}"`]);
}
