import { flushCompileCache } from 'node:module'
import { realEnvironment } from '@coracle/environment'
import { createProcessRuntime } from '../runtimes/process/process-runtime.ts'
import { sandboxConfig } from './sandboxes.ts'

/**
 * A node agent's runtime in a process of its own, for tests that kill it: starts one container per command line
 * argument, prints their ids and waits.
 */
// Keeps the process there: no timer of an environment does.
process.stdin.resume()
const [dataDirectory = '', ...commands] = process.argv.slice(2)
const runtime = createProcessRuntime({ environment: realEnvironment(), dataDirectory, nodeName: 'node-a' })
const sandbox = await runtime.runPodSandbox(sandboxConfig())
const ids: string[] = []
for (const [index, command] of commands.entries()) {
  const id = await runtime.createContainer(sandbox.id, {
    name: `c${index}`,
    attempt: 0,
    image: 'none',
    command: ['sh', '-c', command],
    args: [],
    env: [],
    mounts: [],
    messageFromLog: false,
  })
  await runtime.startContainer(id)
  ids.push(id)
}
// Node does so when a process ends, and this one is killed.
flushCompileCache()
console.log(ids.join(' '))
