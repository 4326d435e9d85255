export interface NextStepsOptions {
  /** Absolute. */
  readonly dataDir: string
  readonly kubeconfig: string
  readonly memory: boolean
  /** What to look at first. */
  readonly resource: 'pods' | 'nodes'
  /** Whether `coracle` is run through npm, and found by `npx` alone. */
  readonly viaNpm: boolean
}

/** What a person at a terminal may do now, for those who see a cluster for the first time. */
export function nextSteps({ dataDir, kubeconfig, memory, resource, viaNpm }: NextStepsOptions): string {
  const afresh = memory ? 'nothing is kept: each start is afresh' : `Ctrl-C, then rm -r ${quoted(dataDir)}`
  return [
    '',
    '  In another terminal:',
    `    export KUBECONFIG=${quoted(kubeconfig)}`,
    `    ${viaNpm ? 'npx ' : ''}coracle get ${resource} -o wide      (or kubectl get ${resource} -o wide)`,
    `  To start afresh: ${afresh}`,
    '',
    '',
  ].join('\n')
}

/** As a shell takes it. */
function quoted(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
