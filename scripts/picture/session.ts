/** What the picture shows: a session in which an application is run, scaled, broken, explained and repaired. */

/** A command of the session, run by a shell in a directory that has the examples. */
export interface Step {
  readonly command: string
  /** The lines that are shown of what it prints; others are left out, as `…` where some are between two that are shown. */
  readonly shows?: readonly RegExp[]
  /** The last line to wait for, of a command that goes on. */
  readonly until?: RegExp
  /** What is said before it, in another colour. */
  readonly remark?: string
}

export const session: readonly Step[] = [
  {
    command: 'coracle up -f examples/hello.yaml',
    shows: [
      /^Coracle is ready/,
      /deployment\/hello .*created/,
      /pod\/hello.*created.*0 of 2/,
      /pod\/hello.*started/,
      /pod\/hello.* ready$/,
    ],
    until: /(pod\/hello.* ready\n[\s\S]*){2}/,
  },
  { command: 'coracle scale deployment/hello --replicas=4', remark: '# in another terminal' },
  { command: 'coracle rollout status deployment/hello', shows: [/successfully/] },
  { command: 'coracle set env deployment/hello VERSION=three', remark: '# a version that does not start' },
  { command: 'coracle rollout status deployment/hello --timeout=5s', shows: [/timed out/] },
  { command: 'coracle get pods', shows: [/^NAME/, /1\/1/, /CrashLoop|Error/] },
  {
    command: 'coracle why deployment/hello',
    shows: [/^deployment\/hello /, /^ {2}[^→ ]/, /^ {2}→/, /asked for, with kubectl-set/],
  },
  { command: 'coracle rollout undo deployment/hello' },
  { command: 'coracle rollout status deployment/hello', shows: [/successfully/] },
  { command: 'coracle get deployment hello' },
]
