// Numbers as a person reads them.

export const fixed = (value) => value.toFixed(1);

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Prints what the manager did for `pods` pods. */
export function describeManager(
  { writes, statusWrites, reads, events, passes, effects, longestPauseMs, residentMiB },
  pods,
) {
  const sent = Object.entries(effects).map(([name, count]) => `${name} ${count}`);
  console.log(
    `    manager: ${writes} writes (${(writes / pods).toFixed(2)} a pod): ${sent.join(', ')}, status ${statusWrites};` +
      ` ${events} Events, ${reads} reads, ${passes} passes;` +
      ` longest pause ${longestPauseMs.toFixed(0)} ms, memory ${residentMiB.now.toFixed(0)} MiB (peak ${residentMiB.peak.toFixed(0)})`,
  );
}
