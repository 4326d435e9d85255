/**
 * Loaded into a process before anything else (`environmentEndingAt`): has it end by `kill -9`, without another instruction of its
 * own, at one moment of closing LMDB and opening it again. `SIGUSR2` has it collect garbage, after which a program at rest does so.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** The moments, in order. */
export const reopeningMoments = ['before closing', 'closed', 'before opening', 'opened'] as const
export type ReopeningMoment = (typeof reopeningMoments)[number]

/** Names the variable that says at which. */
const momentVariable = 'CORACLE_TEST_END_AT'

/** The environment of a process that ends at this moment. */
export const environmentEndingAt = (moment: ReopeningMoment): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import ${import.meta.url}`,
  [momentVariable]: moment,
})

/** LMDB's environment, as its addon has it. */
type Environment = new () => { open(...args: unknown[]): unknown; close(): unknown }

const chosen = process.env[momentVariable]
if (chosen !== undefined) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  process.on('SIGUSR2', () => collect())
  const { dlopen } = process
  process.dlopen = (module: { exports: { Env?: Environment } }, ...rest: [string]) => {
    dlopen.call(process, module, ...rest)
    if (module.exports.Env !== undefined) module.exports.Env = endingAt(chosen, module.exports.Env)
  }
}

function endingAt(chosen: string, Environment: Environment): Environment {
  let opened = 0
  const reach = (moment: ReopeningMoment): void => {
    if (moment === chosen) process.kill(process.pid, 'SIGKILL')
  }
  return class extends Environment {
    override open(...args: unknown[]): unknown {
      opened += 1
      if (opened > 1) reach('before opening')
      const result = super.open(...args)
      if (opened > 1) reach('opened')
      return result
    }

    override close(): unknown {
      reach('before closing')
      const result = super.close()
      reach('closed')
      return result
    }
  }
}
