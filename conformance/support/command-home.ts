import { expect } from 'vitest'
import { type Outcome, runCoracle } from './program.ts'

/** The `coracle` command of somebody whose home is a folder of the test's own, and who has no kubeconfig. */
export interface CommandHome {
  /** Runs a command, whatever comes of it. */
  coracle(...args: readonly string[]): Promise<Outcome>
  /** As `coracle`, for commands that must succeed; gives what they print. */
  ok(...args: readonly string[]): Promise<string>
}

export function commandHome(directory: string): CommandHome {
  const coracle = (...args: readonly string[]): Promise<Outcome> =>
    runCoracle(args, { cwd: directory, env: { KUBECONFIG: '', HOME: directory } })
  return {
    coracle,
    async ok(...args) {
      const { code, stdout, stderr } = await coracle(...args)
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
      return stdout
    },
  }
}
