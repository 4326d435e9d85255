import { type Outcome, type Program, run } from './program.ts'
import { thriftyTools, tools } from './tools.ts'

/** Runs Helm against a cluster, with a home of its own. Now and then it says itself how its own watch ended, which it has just given up: that is left out. */
export async function runHelm({ kubeconfig }: Program, home: string, args: readonly string[]): Promise<Outcome> {
  const homes = { HOME: home, HELM_CACHE_HOME: home, HELM_CONFIG_HOME: home, HELM_DATA_HOME: home }
  const outcome = await run((await tools()).helm, args, { env: { ...thriftyTools, ...homes, KUBECONFIG: kubeconfig } })
  const lines = outcome.stderr.split('\n').filter((line) => !line.includes('context canceled'))
  return { ...outcome, stderr: lines.join('\n') }
}
