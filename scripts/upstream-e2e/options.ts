import { parseArgs } from 'node:util'

export const usage = `usage: npm run upstream:e2e -- --binary PATH [options]

  --binary PATH     upstream's program test/e2e/e2e.test, built by: make WHAT=test/e2e/e2e.test
  --kubectl PATH    a kubectl for the specs that run it
  --focus RE        only specs that this regular expression is found in
  --all             those that do not apply, too
  --list            print which would run, and why others would not
  --workers COUNT   processes side by side (4)
  --logs DIRECTORY  keep what they print there`

export interface RunOptions {
  readonly binary: string
  readonly kubectl: string | undefined
  readonly focus: RegExp | undefined
  readonly all: boolean
  readonly list: boolean
  readonly workers: number
  readonly logs: string | undefined
}

/** The most processes that run side by side. */
export const workersMax = 32

/** Throws an Error that says what is wrong with the arguments. */
export function parseOptions(args: readonly string[]): RunOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      binary: { type: 'string' },
      kubectl: { type: 'string' },
      focus: { type: 'string' },
      all: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      workers: { type: 'string', default: '4' },
      logs: { type: 'string' },
    },
  })
  const { binary, kubectl, focus, all, list, logs } = values
  if (binary === undefined) throw new Error('--binary is required: the path of e2e.test')
  const workers = Number(values.workers)
  if (!Number.isInteger(workers) || workers < 1 || workers > workersMax) {
    throw new Error(`--workers: a number from 1 to ${workersMax}, not ${values.workers}`)
  }
  return { binary, kubectl, focus: focus === undefined ? undefined : new RegExp(focus), all, list, workers, logs }
}
