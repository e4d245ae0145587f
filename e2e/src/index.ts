/** Suites over the whole: nothing imports this package; its folders are run by `scripts/test` and `scripts/demo`. */
export const suites = ['sim', 'conformance', 'kube', 'crds', 'nodes', 'demo'] as const;
